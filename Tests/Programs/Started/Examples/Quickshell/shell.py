"""Stands for Quickshell: runs examples/quickshell/Countdowns.qml with types of the same names, and prints what it reports as lines
of JSON. A line of its input is a method and its parameters, such as `Cancel {"key": "tea"}`.

usage: shell.py Countdowns.qml [PATTERN…]
"""

import json
import os
import sys

from PyQt6.QtCore import QCoreApplication, QObject, QSocketNotifier, QUrl, pyqtProperty, pyqtSignal, pyqtSlot
from PyQt6.QtNetwork import QLocalSocket
from PyQt6.QtQml import QJSValue, QQmlComponent, QQmlEngine, qmlRegisterSingletonType, qmlRegisterType


class Quickshell(QObject):
    @pyqtSlot(str, result="QVariant")
    def env(self, variable):
        return os.environ.get(variable)


class SplitParser(QObject):
    read = pyqtSignal(str, arguments=["data"])

    def __init__(self, parent=None):
        super().__init__(parent)
        self.marker, self.unread = "\n", b""

    @pyqtProperty(str)
    def splitMarker(self):
        return self.marker

    @splitMarker.setter
    def splitMarker(self, marker):
        self.marker = marker

    def take(self, data):
        *parts, self.unread = (self.unread + data).split(self.marker.encode())
        for part in parts:
            self.read.emit(part.decode())


class Socket(QObject):
    """As in Quickshell, `connected` is set to what is wanted, and read as what is; a connection that was lost is made again at
    once, and one that failed is not."""

    connectionStateChanged = pyqtSignal()
    error = pyqtSignal(int, arguments=["error"])

    def __init__(self, parent=None):
        super().__init__(parent)
        self.name, self.stream, self.wanted, self.socket = "", None, False, QLocalSocket(self)
        self.socket.connected.connect(self.connectionStateChanged)
        self.socket.disconnected.connect(self.lost)
        self.socket.errorOccurred.connect(lambda error: self.error.emit(error.value))
        self.socket.readyRead.connect(lambda: self.stream.take(bytes(self.socket.readAll())))

    def lost(self):
        self.connectionStateChanged.emit()
        self.open()

    def open(self):
        if self.wanted and self.name and self.socket.state() == QLocalSocket.LocalSocketState.UnconnectedState:
            self.socket.connectToServer(self.name)

    @pyqtProperty(str)
    def path(self):
        return self.name

    @path.setter
    def path(self, name):
        self.name = name
        self.open()

    @pyqtProperty(bool, notify=connectionStateChanged)
    def connected(self):
        return self.socket.state() == QLocalSocket.LocalSocketState.ConnectedState

    @connected.setter
    def connected(self, wanted):
        self.wanted = wanted
        self.open()

    @pyqtProperty(QObject)
    def parser(self):
        return self.stream

    @parser.setter
    def parser(self, stream):
        self.stream = stream

    @pyqtSlot(str)
    def write(self, data):
        self.socket.write(data.encode())

    @pyqtSlot()
    def flush(self):
        self.socket.flush()


def plain(value):
    return value.toVariant() if isinstance(value, QJSValue) else value


def tell(**values):
    print(json.dumps(values), flush=True)


application = QCoreApplication(sys.argv)
kept = Quickshell()
qmlRegisterSingletonType(Quickshell, "Quickshell", 1, 0, lambda *_: kept, "Quickshell")
qmlRegisterType(Socket, "Quickshell.Io", 1, 0, "Socket")
qmlRegisterType(SplitParser, "Quickshell.Io", 1, 0, "SplitParser")
engine = QQmlEngine()
component = QQmlComponent(engine, QUrl.fromLocalFile(os.path.abspath(sys.argv[1])))
if component.isError():
    sys.exit(component.errorString())
root = component.createWithInitialProperties({"match": sys.argv[2:]})


def shown():
    # Ticks change the remaining time, which differs from run to run.
    countdowns = plain(root.property("list"))
    tell(list=[[each["key"], each["state"], bool(each.get("remainingUSec"))] for each in countdowns])


def obey():
    line = sys.stdin.readline()
    if not line:
        application.quit()
        return
    method, parameters = line.split(maxsplit=1)
    engine.globalObject().setProperty("shell", engine.newQObject(root))
    engine.evaluate(f"shell.call({json.dumps(method)}, {parameters})")


root.listChanged.connect(shown)
root.finished.connect(lambda countdown: tell(finished=plain(countdown)["key"]))
root.failed.connect(lambda error, parameters: tell(failed=error, parameters=plain(parameters)))
root.connectedChanged.connect(lambda: tell(connected=root.property("connected")))
if root.property("connected"):
    tell(connected=True)
notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
notifier.activated.connect(obey)
application.exec()
