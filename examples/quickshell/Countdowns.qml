// The countdowns of this user in a shell made with Quickshell. Put this file beside shell.qml:
//
//     Countdowns { id: countdowns; onFinished: countdown => console.log(countdown.key) }
//     Repeater {
//         model: countdowns.list
//         Text { text: `${modelData.label ?? modelData.key} ${countdowns.clock(modelData)}` }
//     }
//     MouseArea { onClicked: countdowns.call("Start", { key: "tea", durationUSec: 240e6 }) }
//
// Not tried in Quickshell: QuickshellTests checks it with qmllint, and runs it against the daemon with a stand-in for the type
// Socket.
import QtQml
import Quickshell
import Quickshell.Io

QtObject {
    id: root

    // Glob patterns of keys; empty for every countdown.
    property var match: []
    property string path: Quickshell.env("COUNTDOWND_SOCKET")
        || `${Quickshell.env("XDG_RUNTIME_DIR")}/countdownd/io.countdownd`
    // Whether cooldowns of commands are shown beside timers.
    property bool cooldowns: false
    // The running and paused countdowns as the daemon describes them, the one that ends first in front.
    property var list: []
    property bool connected: false

    // A countdown that is shown has reached its end; also one that ended while the connection was lost.
    signal finished(var countdown)
    // The daemon refused a call.
    signal failed(string error, var parameters)

    // Calls a method of io.countdownd, such as Start, Cancel, Pause or Resume.
    function call(method, parameters) {
        const caller = connection({ method: `io.countdownd.${method}`, parameters }, reply => {
            if (reply.error !== undefined) failed(reply.error, reply.parameters);
            caller.destroy();
        });
        caller.error.connect(error => {
            failed("unreachable", { error });
            caller.destroy();
        });
        caller.connected = true;
    }

    // The remaining time: 4:59 or 1:00:00.
    function clock(countdown) {
        const seconds = Math.ceil(countdown.remainingUSec / 1e6);
        const fields = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
        const shown = fields[0] > 0 ? fields : fields.slice(1);
        return shown.map((field, place) => place > 0 ? String(field).padStart(2, "0") : field).join(":");
    }

    property var known: ({})
    // The revision up to which every change is known; undefined before the first synced.
    property var since: undefined
    property Socket watch: null

    function open() {
        watch?.destroy();
        if (since === undefined) known = {};
        const parameters = { match: match.length > 0 ? match : undefined, since };
        const watcher = connection({ method: "io.countdownd.Watch", more: true, parameters }, receive);
        watcher.connectionStateChanged.connect(() => {
            connected = watcher.connected;
            if (connected) return;
            // Otherwise it would repeat its call, with an old revision.
            watcher.connected = false;
            retry.restart();
        });
        watcher.error.connect(() => retry.restart());
        watch = watcher;
        // It may fail or succeed at once.
        watcher.connected = true;
    }

    // A connection for one call, because a watch keeps its own.
    function connection(call, receive) {
        return socket.createObject(root, { path, message: JSON.stringify(call), receive });
    }

    function receive(reply) {
        if (reply.error === "io.countdownd.HistoryTrimmed") {
            since = undefined;
            open();
            return;
        }
        if (reply.error !== undefined) failed(reply.error, reply.parameters);
        retry.interval = 1000;
        for (const event of reply.parameters?.events ?? []) receiveEvent(event);
        list = Object.values(known).sort((one, other) =>
            (one.state === "paused") - (other.state === "paused") || one.remainingUSec - other.remainingUSec);
    }

    // As docs/bars-and-hooks.md has it: keys of countdownctl temporarily are not shown.
    function shows(countdown) {
        return !countdown.key.startsWith("undo/") && (cooldowns || countdown.metadata?.cooldown !== "yes");
    }

    function receiveEvent(event) {
        if (event.revision !== undefined && (event.type === "synced" || since !== undefined)) since = event.revision;
        if (event.countdown !== undefined && !shows(event.countdown)) {
            delete known[event.key];
        } else if (event.type === "finished" || event.type === "cancelled") {
            delete known[event.key];
            if (event.type === "finished") finished(event.countdown);
        } else if (event.countdown !== undefined) {
            known[event.key] = event.countdown;
        } else if (known[event.key] !== undefined) {
            known[event.key] = Object.assign({}, known[event.key], { remainingUSec: event.remainingUSec });
        }
    }

    property Component socket: Component {
        Socket {
            id: connection

            required property string message
            required property var receive

            onConnectedChanged: {
                if (!connected) return;
                write(`${message}\0`);
                flush();
            }
            parser: SplitParser {
                splitMarker: "\0"
                onRead: data => connection.receive(JSON.parse(data))
            }
        }
    }

    property Timer retry: Timer {
        interval: 1000
        onTriggered: {
            interval = Math.min(interval * 2, 30000);
            root.open();
        }
    }

    Component.onCompleted: open()
}
