import Foundation
import TestSupport

/// A session bus, which starts no services unless a file in the folder `services` names one.
final class Desktop {
    let directory: TemporaryDirectory
    let address: String
    private let daemon: RunningCommand

    /// Starts a bus. In the directory of an earlier one it has the same address.
    init(in directory: TemporaryDirectory? = nil) throws {
        let directory = try directory ?? TemporaryDirectory()
        unsafe unlink(directory.path(of: "bus"))
        let configuration = """
            <busconfig><type>session</type><servicedir>\(directory.path(of: "services"))</servicedir><listen>unix:path=\(directory.path(of: "bus"))</listen><auth>EXTERNAL</auth>
            <policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
            </policy></busconfig>
            """
        let file = try directory.write(configuration, to: "bus.conf")
        daemon = try RunningCommand(
            ["--config-file=\(file)", "--nofork", "--print-address=1"],
            executable: "/usr/bin/dbus-daemon"
        )
        // It listens when it has printed its address.
        _ = try daemon.line()
        self.directory = directory
        address = Self.address(in: directory)
    }

    /// The address of a bus in a directory, whether or not it runs.
    static func address(in directory: TemporaryDirectory) -> String { "unix:path=\(directory.path(of: "bus"))" }

    /// Ends it, and with it all connections.
    func end() throws {
        daemon.process.send(signal: SIGTERM)
        try daemon.process.wait()
    }
}

/// A notification service.
final class NotificationServer {
    /// A call, as it was shown.
    struct Shown: Decodable {
        let member: String
        var id: UInt32?
        var replaces: UInt32?
        var summary: String?
        var body: String?
        var actions: [String]?
        var hints: Hints?
        var timeout: Int32?
    }

    struct Hints: Decodable {
        let urgency: Int
        let category: String
        var value: Int?
        let desktopEntry: String
        var suppressSound: Bool?

        enum CodingKeys: String, CodingKey {
            case urgency, category, value
            case desktopEntry = "desktop-entry"
            case suppressSound = "suppress-sound"
        }
    }

    /// The bus.
    let desktop: Desktop
    private let command: RunningCommand

    /// Starts a bus and the service.
    convenience init(in directory: TemporaryDirectory, _ options: String...) throws {
        try self.init(on: Desktop(in: directory), options)
    }

    /// Starts the service and waits until it owns its name on the bus.
    convenience init(on desktop: Desktop, _ options: String...) throws { try self.init(on: desktop, options) }

    private init(on desktop: Desktop, _ options: [String]) throws {
        self.desktop = desktop
        let script = "Tests/Programs/Desktop/notifications.py"
        command = try RunningCommand(
            [BuiltProduct.source(script)] + options,
            executable: "/usr/bin/python3",
            environment: ["DBUS_SESSION_BUS_ADDRESS": desktop.address],
            input: nil
        )
        _ = try next("ready")
    }

    /// The next call of a method. Calls of other methods before it are ignored.
    func next(_ member: String = "Notify") throws -> Shown {
        while let line = try command.line() {
            let shown = try JSONDecoder().decode(Shown.self, from: Data(line.utf8))
            if shown.member == member { return shown }
        }
        throw Gone(run: try command.finish())
    }

    /// Clicks on an action.
    func choose(_ action: String, of number: UInt32?) throws {
        try command.type("choose \(number ?? 0) \(action)\n")
    }

    /// Closes a notification: 1 is the reason of a timeout, 2 of the user.
    func close(_ number: UInt32?, reason: Int = 2) throws {
        try command.type("close \(number ?? 0) \(reason)\n")
    }

    /// Kills the service.
    func vanish() throws {
        command.process.send(signal: SIGKILL)
        try command.process.wait()
    }

    struct Gone: Error {
        let run: CommandRun
    }
}
