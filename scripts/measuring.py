"""What the measuring scripts share: a daemon of their own, a connection to it, and figures."""

import json
import os
import socket
import subprocess
import time


class Daemon:
    """A daemon on a private directory, started and waited for by systemd's readiness protocol."""

    def __init__(self, executable, directory, *arguments):
        self.socket = os.path.join(directory, "socket")
        notify = os.path.join(directory, "notify")
        if os.path.exists(notify):
            os.unlink(notify)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(notify)
            begin = time.monotonic()
            self.process = subprocess.Popen(
                [executable, "--socket", self.socket, "--state-directory", os.path.join(directory, "state"),
                 "--log-level", "warning", *arguments],
                env={**os.environ, "NOTIFY_SOCKET": notify},
            )
            while b"READY=1" not in listener.recv(4096):
                pass
            self.seconds_to_ready = time.monotonic() - begin

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self, how):
        self.process.send_signal(how)
        return self.process.wait()


class Connection:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.rest = b""

    def send(self, method, parameters, **flags):
        call = {"method": "io.countdownd." + method, "parameters": parameters, **flags}
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def receive_reply(self):
        while b"\0" not in self.rest:
            data = self.socket.recv(1 << 16)
            if not data:
                raise EOFError("the daemon has closed the connection")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def receive(self):
        return self.receive_reply()["parameters"]

    def call(self, method, parameters=None):
        self.send(method, parameters or {})
        return self.receive()


def start_many(path, count, prefix, first_usec, step_usec):
    """Starts countdowns as fast as the daemon takes them, a thousand calls in a write."""
    connection = Connection(path)
    for begin in range(0, count, 1000):
        connection.socket.sendall(b"".join(
            b'{"method":"io.countdownd.Start","parameters":{"key":"%s%08d","durationUSec":%d},"oneway":true}\0'
            % (prefix, number, first_usec + number * step_usec)
            for number in range(begin, min(begin + 1000, count))
        ))
    connection.call("GetStatus")


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def lateness(values):
    return "median %d µs, p99 %d µs, max %d µs" % (quantile(values, .5), quantile(values, .99), max(values))
