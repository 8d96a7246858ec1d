import CProcess
public import FleetWire
import Foundation
import Glibc
package import ModelEngine
import System
import TestSupport

/// Bridges for tests, with an engine in memory: they serve `io.countdownd.Backend` on Unix sockets, on a thread of their own.
///
/// Every method takes effect before it returns.
public final class FakeBackend: Sendable {
    /// The engine's type.
    package typealias Engine = ModelEngine<String, String, RecordText>

    /// The paths of the bridges' sockets.
    public let sockets: [String]
    /// The path of the first bridge's socket.
    public var socket: String { sockets[0] }
    private let folder: TemporaryDirectory
    private let shared: Shared

    /// Listens, with an empty engine.
    public init(bridges: Int = 1) throws {
        let folder = try TemporaryDirectory()
        self.folder = folder
        sockets = (0..<bridges).map { folder.path(of: "backend\($0)") }
        let shared = Shared(FakeBridge(listeners: try sockets.map(ListeningSocket.init)), try WakeUp())
        self.shared = shared
        Thread.detachNewThread { shared.serve() }
    }

    deinit { change { $0.hasEnded = true } }

    // MARK: The engine

    /// The engine as it is now.
    package var engine: Engine { shared.bridge.withLock { $0.engine } }

    /// Ends the engine at once; the bridges lose their connections.
    public func kill() { change { $0.lose("the engine has closed the connection", $0.bridges) } }

    /// Starts the engine again with everything that it had acknowledged.
    public func restart() { change { $0.reach($0.bridges) } }

    /// Cuts the network between one bridge and the engine.
    public func cutOff(_ bridge: Int) { change { $0.lose("no route to the engine", bridge..<bridge + 1) } }

    /// Ends `cutOff`.
    public func rejoin(_ bridge: Int) { change { $0.reach(bridge..<bridge + 1) } }

    /// Stops the engine without ending it. The bridges give it up a second after the next proposal.
    public func freeze() { change { $0.isFrozen = true } }

    /// Ends `freeze`; the engine carries out the calls that it has received.
    public func thaw() { change { $0.thaw() } }

    /// Removes everything that the engine holds, as if it were another one.
    public func loseEverything() { change { $0.forgetEverything() } }

    /// Removes all but the last change of the log.
    public func trimLog() { change { $0.engine.trimLog(to: 1) } }

    /// Lets the engine refuse changes because it is full, or accept them again.
    public func setFull(_ isFull: Bool) { change { $0.engine.isFull = isFull } }

    /// Sets how far the engine's clock is ahead of this machine's system clock, in microseconds.
    public func setClock(ahead microseconds: Int64) { change { $0.setClock(ahead: microseconds) } }

    // MARK: The bridges

    /// Ends a bridge: its connections are closed, and nobody listens.
    public func stop(_ bridge: Int = 0) {
        change { $0.stop(bridge) }
        unsafe unlink(sockets[bridge])
    }

    /// Starts a bridge again after `stop`.
    public func start(_ bridge: Int = 0) throws {
        let listener = try ListeningSocket(path: sockets[bridge])
        change { $0.start(bridge, listener) }
    }

    /// Closes all connections; clients can connect again at once.
    public func closeConnections() { change { $0.closeConnections(of: $0.bridges) } }

    /// Sends a reply to every follower.
    public func deliver(_ reply: Follow.Reply) { change { $0.deliver(reply) } }

    /// Changes the faults.
    public func setFaults(_ body: (inout Faults) -> Void) { change { body(&$0.faults) } }

    /// The calls so far.
    public var calls: Calls { shared.bridge.withLock { $0.calls } }

    /// Waits until the calls meet a condition.
    public func awaitCalls(_ what: String, _ condition: (Calls) -> Bool) throws {
        try waitUntil(what) { condition(calls) }
    }

    /// The calls so far.
    public struct Calls: Sendable {
        /// The number of proposals that change something.
        public internal(set) var changes = 0
        /// The calls of `Follow`.
        public internal(set) var follows: [Follow] = []
    }

    /// The faults between the clients and the engine.
    public struct Faults: Sendable {
        /// The bridges hang: they read no calls and send no answers.
        public var answersNothing = false
        /// The next calls of `Propose` whose replies are lost: their connections are closed after the changes were made.
        public var lostReplies = 0
        /// How much later replies to `Propose` leave, in microseconds.
        public var replyDelay: Int64 = 0
        /// How much later replies to `Follow` leave, in microseconds.
        public var updateDelay: Int64 = 0
        /// Changes the answers to a call of `Propose`.
        public var answers: (@Sendable ([Propose.Answer]) -> [Propose.Answer])?
        /// Changes a reply to `Follow`.
        public var update: (@Sendable (Follow.Reply) -> Follow.Reply)?
        /// Bytes that are sent instead of replies to `Propose`.
        public var rawReply: String?
        /// Bytes that are sent instead of replies to `Follow`.
        public var rawUpdate: String?

        /// None.
        public init() {}
    }

    // MARK: The thread

    private func change<Result: Sendable>(_ body: (inout FakeBridge) -> Result) -> Result {
        let result = shared.bridge.withLock { bridge in
            let result = body(&bridge)
            bridge.proceed()
            return result
        }
        shared.wakeUp.send()
        return result
    }

    /// The state that the thread shares with the tests.
    private final class Shared: Sendable {
        let bridge: Guarded<FakeBridge>
        let wakeUp: WakeUp

        init(_ bridge: consuming sending FakeBridge, _ wakeUp: WakeUp) {
            self.bridge = Guarded(bridge)
            self.wakeUp = wakeUp
        }

        func serve() {
            while let awaited = bridge.withLock({ $0.awaited }) {
                var set = PollSet()
                set.add(wakeUp.descriptor)
                for (descriptor, events) in awaited.descriptors { set.add(descriptor, for: events) }
                set.add(awaited.deadline)
                set.wait()
                wakeUp.receive()
                bridge.withLock { $0.turn() }
            }
        }
    }
}

/// A pipe that ends the wait of the thread.
final class WakeUp: Sendable {
    let descriptor: Int32
    private let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { throw SystemCallFailure("pipe2") }
        (descriptor, writing) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    /// If the pipe is full, the thread is about to be woken anyway.
    func send() { _ = unsafe write(writing, [1], 1) }

    func receive() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
