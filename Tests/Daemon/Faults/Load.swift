import Foundation
import TestSupport

/// Clients that change a few countdowns all the time.
final class Load {
    /// How much a run writes.
    struct Size: Sendable {
        var rounds: Int
        var metadata: Int
    }

    private let connections: [RawConnection]
    private let watch: RawConnection
    private var dice: SeededGenerator
    private let size: Size
    /// The number that is the label of the next run.
    private(set) var label: Int

    init(of daemon: DaemonProcess, _ size: Size, from label: Int, _ dice: SeededGenerator) throws {
        connections = try (0..<4).map { _ in try daemon.connect() }
        watch = try daemon.connect()
        (self.size, self.label, self.dice) = (size, label, dice)
        try watch.send(
            message: #"{"method":"io.countdownd.Watch","more":true,"parameters":{"match":["*"],"tickUSec":0}}"#
        )
    }

    /// Lets each client make some changes, and waits for all answers.
    func round() throws {
        var counts: [Int] = []
        for connection in connections {
            let count = Int.random(in: 1...8, using: &dice)
            counts.append(count)
            try connection.send(Array((0..<count).map { _ in call() + "\0" }.joined().utf8))
        }
        for (connection, count) in zip(connections, counts) { for _ in 0..<count { _ = try connection.message() } }
        _ = try watch.arrivedMessages()
    }

    func run() throws {
        for _ in 0..<size.rounds { try round() }
        // What is told of the last changes is sent before the answer to a later call.
        for _ in 0..<2 { _ = try connections[0].exchange(#"{"method":"io.countdownd.GetStatus"}"#) }
        _ = try watch.arrivedMessages()
    }

    private func call() -> String {
        let key = "key/\(Int.random(in: 0..<16, using: &dice))"
        switch Int.random(in: 0..<10, using: &dice) {
        case 0: return #"{"method":"io.countdownd.Pause","parameters":{"key":"\#(key)"}}"#
        case 1: return #"{"method":"io.countdownd.Cancel","parameters":{"key":"\#(key)"}}"#
        case 2: return #"{"method":"io.countdownd.Adjust","parameters":{"key":"\#(key)","byUSec":1000000}}"#
        default: return start(key)
        }
    }

    private func start(_ key: String) -> String {
        label += 1
        let duration = [3_600_000_000, 3_600_000_000, 3_600_000_000, 1, 5_000].randomElement(using: &dice) ?? 1
        let filler = String(
            repeating: "m",
            count: size.metadata == 0 ? 0 : .random(in: 0...size.metadata, using: &dice)
        )
        let forget = Int.random(in: 0..<8, using: &dice) == 0
        return
            #"{"method":"io.countdownd.Start","parameters":{"key":"\#(key)","durationUSec":\#(duration),"label":"\#(label)","#
            + #""ifRunning":"restart","forget":\#(forget),"metadata":{"m":"\#(filler)"}}}"#
    }
}

extension DaemonProcess {
    /// Every countdown that the daemon has, by its key.
    func listAll() throws -> [String: Fact] {
        let connection = try connect()
        let states = #"["running","paused","finished","cancelled"]"#
        try connection.send(message: #"{"method":"io.countdownd.List","more":true,"parameters":{"states":\#(states)}}"#)
        var found: [String: Fact] = [:]
        while true {
            let message = try connection.message()
            for fact in Account.facts(in: Data(message.utf8)) where found[fact.key]?.revision ?? 0 < fact.revision {
                found[fact.key] = fact
            }
            guard message.contains(#""continues":true"#) else { return found }
        }
    }

    /// Starts a countdown, and returns it; nil if that is refused.
    func startOne(_ key: String) throws -> Fact? {
        let call =
            #"{"method":"io.countdownd.Start","parameters":{"key":"\#(key)","durationUSec":3600000000,"label":"new"}}"#
        return Account.facts(in: Data(try connect().exchange(call).utf8)).first
    }
}
