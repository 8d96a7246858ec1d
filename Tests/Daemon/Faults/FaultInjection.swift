import Foundation
import Glibc
import TestSupport
import Testing

/// Makes the system calls fail by which a daemon keeps its state, or kills it at one: the other end of `Shim/faults.c`.
final class FaultInjection {
    enum Fault: Equatable {
        case errno(Int32)
        /// The call is done, and fails all the same.
        case errnoAfter(Int32)
        case kill(Moment)
    }

    /// When the error or SIGKILL comes.
    enum Moment: UInt32 {
        case before
        /// After half of the call if it is a write, else before the call.
        case afterHalf
        case after
    }

    /// Which calls are counted.
    enum Counted: UInt32 {
        case changes = 0
        /// Also those that change nothing.
        case all = 1
    }

    /// Which of the counted calls fail.
    enum Calls: Equatable {
        case none
        case only(Int)
        case these(ClosedRange<Int>)
        /// This one and all later ones, until something else is set.
        case from(Int)
    }

    private let control: UnsafeMutableRawPointer
    private let file: String
    private let state: String

    /// - Parameter directory: the directory of the daemon in which calls fail.
    /// - Throws: that no memory can be shared with the daemon.
    init(in directory: TemporaryDirectory) throws {
        file = directory.path(of: "control")
        state = directory.path(of: "state")
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, off_t(Layout.size)) == 0 else {
            throw SystemCallFailure("control")
        }
        defer { close(descriptor) }
        let mapped = mmap(nil, Layout.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { throw SystemCallFailure("mmap") }
        control = mapped
    }

    deinit {
        munmap(control, Layout.size)
    }

    /// The variables that the daemon needs in its environment.
    func environment() throws -> [String: String] {
        ["LD_PRELOAD": try Shim.path.get(), "FAULT_DIRECTORY": state, "FAULT_CONTROL": file]
    }

    /// Sets what happens from now on.
    ///
    /// - Parameters:
    ///   - fault: what happens at a call.
    ///   - calls: the calls at which it happens.
    ///   - counted: which calls are counted.
    func set(_ fault: Fault, at calls: Calls, of counted: Counted = .changes) {
        heal()
        switch fault {
        case .errno(let number): store(number, .before)
        case .errnoAfter(let number): store(number, .after)
        case .kill(let moment): store(0, moment)
        }
        store(counted.rawValue, at: Layout.reads)
        switch calls {
        case .none: break
        case .only(let number): set(first: number, last: number)
        case .these(let numbers): set(first: numbers.lowerBound, last: numbers.upperBound)
        case .from(let number): set(first: number, last: .max)
        }
    }

    /// Sets the system clock for the daemon, by an offset to the real one.
    func setClock(offBy microseconds: Int64) {
        store(microseconds * 1_000, at: Layout.step)
    }

    /// Lets no call fail from now on.
    func heal() {
        store(UInt64(0), at: Layout.first)
    }

    /// Resets the counters, and lets no call fail.
    func startOver() {
        heal()
        memset(control, 0, Layout.step)
    }

    /// How many calls were counted.
    var calls: Int { Int(control.load(fromByteOffset: Layout.calls, as: UInt64.self)) }
    /// How many of them failed.
    var failed: Int { Int(control.load(fromByteOffset: Layout.failed, as: UInt64.self)) }

    /// The calls so far, a letter for each.
    var trace: String {
        let letters = UnsafeRawBufferPointer(start: control + Layout.trace, count: min(calls, 65_536))
        return String(decoding: letters, as: UTF8.self)
    }

    private func set(first: Int, last: Int) {
        store(UInt64(last), at: Layout.last)
        store(UInt64(first), at: Layout.first)
    }

    private func store(_ error: Int32, _ moment: Moment) {
        store(error, at: Layout.error)
        store(moment.rawValue, at: Layout.when)
    }

    private func store(_ value: some BitwiseCopyable, at offset: Int) {
        control.storeBytes(of: value, toByteOffset: offset, as: type(of: value))
    }

    /// The offsets of the members of `struct control`.
    private enum Layout {
        static let (calls, first, last, failed, step) = (0, 8, 16, 24, 32)
        static let (error, reads, when) = (40, 44, 48)
        static let trace = 56
        static let size = 56 + 65_536
    }
}

extension Trait where Self == ConditionTrait {
    /// A trait for tests that use `FaultInjection`.
    static var withoutSanitizers: Self {
        .enabled(if: Sanitizers.areAbsent, "a sanitizer wants to be the first that takes calls over")
    }
}

/// The library that is preloaded into daemons.
private enum Shim {
    /// Compiled once for all tests of a run, beside them.
    static let path = Result { try compile() }

    private static func compile() throws -> String {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Shim/faults.c").path
        let library = try BuiltProduct.path(of: "countdownd") + "-faults.so"
        let compiler = #"if command -v clang > /dev/null; then exec clang "$@"; else exec cc "$@"; fi"#
        let run = try RunningCommand(
            ["-c", compiler, "sh", "-Wall", "-Wextra", "-O1", "-shared", "-fPIC", "-o", library, source],
            executable: "/bin/sh",
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        ).finish()
        guard run.exitCode == 0 else { throw NotCompiled(description: run.standardError) }
        return library
    }

    struct NotCompiled: Error, CustomStringConvertible {
        let description: String
    }
}
