import CLinux
import CountdownCore
import Glibc
import System

/// A descriptor that is ready, and its events.
struct Readiness {
    let token: UInt64
    let isReadable: Bool
    let isWritable: Bool
    /// Both directions are closed, or the socket is broken.
    let isHungUp: Bool
}

/// All descriptors of the daemon in one epoll set.
///
/// The set is level-triggered: a descriptor that stays ready is reported again.
struct Poller: ~Copyable {
    /// How often `spin` looks; each look takes some 0.5 µs, so all of them 100 µs.
    private static let looks = 200

    private let epoll: Descriptor
    private var ready = [linux_ready](repeating: linux_ready(), count: Int(LINUX_READY_AT_ONCE))

    init() throws(SystemFailure) {
        epoll = try Descriptor(owning: epoll_create1(Int32(EPOLL_CLOEXEC)), of: "epoll_create1")
    }

    /// Adds a descriptor under a token.
    func add(_ descriptor: Int32, token: UInt64, reading: Bool = true, writing: Bool = false) throws(SystemFailure) {
        try control(EPOLL_CTL_ADD, descriptor, token, reading, writing)
    }

    /// Changes the directions for which a descriptor is reported. A hang-up is always reported.
    func set(_ descriptor: Int32, token: UInt64, reading: Bool, writing: Bool) throws(SystemFailure) {
        try control(EPOLL_CTL_MOD, descriptor, token, reading, writing)
    }

    /// Removes a descriptor, which may stay open.
    func remove(_ descriptor: Int32) {
        _ = linux_epoll_control(epoll.number, EPOLL_CTL_DEL, descriptor, 0, 0)
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

    /// Returns the descriptors that are ready now.
    mutating func poll() -> [Readiness] { wait(nanoseconds: 0) }

    /// Sleeps until a descriptor is ready, or until the duration has passed.
    mutating func wait(for duration: Duration?) -> [Readiness] {
        wait(nanoseconds: duration.map { $0.microseconds * 1_000 } ?? -1)
    }

    /// Looks for ready descriptors for at most 100 µs without sleeping.
    mutating func spin() -> [Readiness] {
        for _ in 0..<Self.looks {
            sched_yield()
            let ready = poll()
            if !ready.isEmpty { return ready }
        }
        return []
    }

    /// Returns no descriptor if a signal interrupts the wait.
    private mutating func wait(nanoseconds: Int64) -> [Readiness] {
        let count = unsafe ready.withUnsafeMutableBufferPointer {
            unsafe linux_epoll_wait(epoll.number, $0.baseAddress, nanoseconds)
        }
        guard count > 0 else { return [] }
        return ready.prefix(Int(count)).map { ready in
            let events = Int(ready.events)
            return Readiness(
                token: ready.token,
                isReadable: events & LINUX_READABLE != 0,
                isWritable: events & LINUX_WRITABLE != 0,
                isHungUp: events & (LINUX_HUNG_UP | LINUX_FAILED) != 0
            )
        }
    }
}

/// Decides whether the loop polls for a moment before it sleeps.
///
/// A client that calls, reads the reply and calls again is back within some 20 to 50 µs. To be woken up takes as long as to
/// answer, so while calls come that close together the loop looks for the next one without sleeping.
struct BusyPoll {
    /// If the time between two calls was no longer than this, the next call is expected within the same time.
    private static let longestPause = Duration(microseconds: 150)

    private var lastCall: BootInstant?
    private(set) var isWorthwhile = false

    /// Notes an iteration of the loop, and how many calls it carried out.
    mutating func note(at instant: BootInstant, calls: Int) {
        isWorthwhile = false
        guard calls > 0 else { return }
        if let lastCall { isWorthwhile = instant - lastCall <= Self.longestPause }
        lastCall = instant
    }

    /// Notes that no call came while the loop polled.
    mutating func stop() { isWorthwhile = false }
}
