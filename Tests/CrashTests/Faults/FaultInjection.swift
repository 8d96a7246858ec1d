import Foundation
import Glibc
import TestSupport

/// Lets the calls fail by which a daemon keeps its state, or kills it there: the other end of `Shim/faults.c`.
final class FaultInjection {
    enum Fault: Equatable {
        case errno(Int32)
        /// SIGKILL, instead of the call; where it is a write, perhaps after a half of it.
        case kill(torn: Bool)
    }

    /// Which of the counted calls fail.
    enum Calls: Equatable {
        case none
        case only(Int)
        /// This one, and all that follow until something else is set.
        case from(Int)
    }

    private let control: UnsafeMutableRawPointer
    private let file: String
    private let state: String

    /// - Parameter directory: of the daemon whose calls are meant.
    /// - Throws: where no memory can be shared with it.
    init(in directory: TemporaryDirectory) throws {
        file = directory.path(of: "control")
        state = directory.path(of: "state")
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, off_t(Layout.size)) == 0 else { throw SystemFailure("control") }
        defer { close(descriptor) }
        let mapped = mmap(nil, Layout.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { throw SystemFailure("mmap") }
        control = mapped
    }

    deinit {
        munmap(control, Layout.size)
    }

    /// What a daemon has to have in its environment.
    func environment() throws -> [String: String] {
        ["LD_PRELOAD": try Shim.path.get(), "FAULT_DIRECTORY": state, "FAULT_CONTROL": file]
    }

    /// Says what shall happen from now on.
    ///
    /// - Parameters:
    ///   - fault: what becomes of a call.
    ///   - calls: whose turn it is.
    ///   - reads: whether calls that change nothing are counted too.
    func set(_ fault: Fault, at calls: Calls, reads: Bool = false) {
        store(UInt64(0), at: Layout.first)
        switch fault {
        case .errno(let number): store(number, at: Layout.error)
        case .kill(let torn):
            store(Int32(0), at: Layout.error)
            store(UInt32(torn ? 1 : 0), at: Layout.torn)
        }
        store(UInt32(reads ? 1 : 0), at: Layout.reads)
        switch calls {
        case .none: break
        case .only(let number): set(first: number, last: number)
        case .from(let number): set(first: number, last: .max)
        }
    }

    /// From now on nothing fails.
    func heal() {
        store(UInt64(0), at: Layout.first)
    }

    /// Forgets what was counted.
    func startOver() {
        heal()
        memset(control, 0, Layout.size)
    }

    /// How many calls were counted.
    var calls: Int { Int(control.load(fromByteOffset: Layout.calls, as: UInt64.self)) }
    /// How many of them have failed.
    var failed: Int { Int(control.load(fromByteOffset: Layout.failed, as: UInt64.self)) }

    /// What was called, a letter for each call.
    var trace: String {
        String(cString: (control + Layout.trace).assumingMemoryBound(to: CChar.self))
    }

    private func set(first: Int, last: Int) {
        store(UInt64(last), at: Layout.last)
        store(UInt64(first), at: Layout.first)
    }

    private func store(_ value: some BitwiseCopyable, at offset: Int) {
        control.storeBytes(of: value, toByteOffset: offset, as: type(of: value))
    }

    /// Where the members of `struct control` are.
    private enum Layout {
        static let (calls, first, last, failed) = (0, 8, 16, 24)
        static let (error, reads, torn) = (32, 36, 40)
        static let trace = 48
        static let size = 48 + 65_536
    }
}

/// The library that is preloaded into daemons.
private enum Shim {
    /// Compiled once for all tests of a run, beside them.
    static let path = Result { try compile() }

    private static func compile() throws -> String {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
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
