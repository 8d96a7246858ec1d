import CLinux
import Dispatch
import Glibc

/// What became of a descriptor.
struct Readiness {
    let token: UInt64
    let isReadable: Bool
    let isWritable: Bool
    /// Both directions are closed, or the socket is broken.
    let isHungUp: Bool
}

/// All descriptors of the daemon in one epoll set behind one Dispatch source.
///
/// The set is level-triggered: whatever is not taken is told again.
struct Poller: ~Copyable {
    /// Looks of a spinning poller, of some 0.5 µs each.
    private static let rounds = 200

    private let epoll: Descriptor
    private let source: any DispatchSourceRead
    private var ready = [linux_ready](repeating: linux_ready(), count: Int(LINUX_READY_AT_ONCE))

    /// A set that tells nothing before `start`.
    init(queue: DispatchQueue) throws(SystemFailure) {
        epoll = try Descriptor(owning: linux_epoll_create(), of: "epoll_create1")
        source = DispatchSource.makeReadSource(fileDescriptor: epoll.number, queue: queue)
    }

    /// Calls back on the queue while anything is ready, from now on; `poll` tells what.
    func start(_ wake: @escaping @Sendable () -> Void) {
        source.setEventHandler(handler: wake)
        source.activate()
    }

    /// Tells of a descriptor under a token from now on; both directions are off where they are not named.
    func add(_ descriptor: Int32, token: UInt64, reading: Bool = true, writing: Bool = false) throws(SystemFailure) {
        try control(EPOLL_CTL_ADD, descriptor, token, reading, writing)
    }

    /// Changes the directions that are told of a descriptor; a hang-up is told always.
    func set(_ descriptor: Int32, token: UInt64, reading: Bool, writing: Bool) throws(SystemFailure) {
        try control(EPOLL_CTL_MOD, descriptor, token, reading, writing)
    }

    private func control(
        _ operation: Int32,
        _ descriptor: Int32,
        _ token: UInt64,
        _ reading: Bool,
        _ writing: Bool
    ) throws(SystemFailure) {
        let events = (reading ? LINUX_READABLE : 0) | (writing ? LINUX_WRITABLE : 0)
        guard linux_epoll_control(epoll.number, operation, descriptor, UInt32(events), token) == 0 else {
            throw SystemFailure("epoll_ctl")
        }
    }

    /// What is ready; where nothing is, what becomes ready while there is patience.
    mutating func poll(_ patience: Lull.Patience = .none) -> [Readiness] {
        var count = wait(milliseconds: 0)
        if patience == .spinning {
            var rounds = Self.rounds
            while count == 0, rounds > 0 {
                sched_yield()
                count = wait(milliseconds: 0)
                rounds -= 1
            }
        }
        if patience != .none, count == 0 { count = wait(milliseconds: 1) }
        return ready.prefix(count).map { ready in
            let events = Int(ready.events)
            return Readiness(
                token: ready.token,
                isReadable: events & LINUX_READABLE != 0,
                isWritable: events & LINUX_WRITABLE != 0,
                isHungUp: events & (LINUX_HUNG_UP | LINUX_FAILED) != 0
            )
        }
    }

    /// How many are ready.
    private mutating func wait(milliseconds: Int32) -> Int {
        let count = unsafe ready.withUnsafeMutableBufferPointer {
            unsafe linux_epoll_wait(epoll.number, $0.baseAddress, milliseconds)
        }
        return max(0, Int(count))
    }
}
