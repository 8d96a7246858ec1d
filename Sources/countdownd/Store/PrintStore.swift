import CLinux
import CountdownCore
import Glibc
import System
import Text
import Varlink

/// Prints what a start would report and serve. It locks and changes nothing, so the log can be a copy, or that of a running daemon.
struct PrintStore {
    /// A log that changes while it is read is read again so often, if something is wrong with what was read.
    private static let tries = 5
    private static let bytesPerWrite = 1 << 16

    /// A state directory, or a folder of a log.
    let directory: String
    let recovery: Recovery

    init(directory: String, options: Options) {
        self.directory = directory
        var clocks = Clocks(.system, followsEngine: options.backend != nil)
        recovery = Recovery(
            limits: options.limits,
            now: clocks.now().now,
            bootID: BootIdentity.current,
            durability: options.durability,
            followsEngine: options.backend != nil
        )
    }

    /// Writes what a start would report to standard error, and each countdown as a line of JSON to standard output, in the order of
    /// their revisions.
    func run() throws(StoreFailure) {
        let contents = try contents()
        do throws(SystemFailure) {
            for report in contents.reports + contents.skipped.map(\.description) {
                try Descriptor.writeAll("\(PrintableText.escape(report))\n".utf8Span.span, to: STDERR_FILENO)
            }
            let translation = Translation(limits: recovery.limits)
            var lines = JSONWriter()
            try contents.timetable.visitAll { countdown throws(SystemFailure) in
                translation.write(element: countdown, at: recovery.now, into: &lines)
                lines.endLine()
                if lines.count >= Self.bytesPerWrite { try Self.flush(&lines) }
            }
            try Self.flush(&lines)
        } catch {
            throw StoreFailure(reason: "cannot print: \(error)")
        }
    }

    // MARK: Reading

    private func contents() throws(StoreFailure) -> LogContents {
        let name = try name()
        do {
            for _ in 1..<Self.tries {
                let before = try? status(of: name)
                if let contents = try? load(name), contents.reports.isEmpty, contents.skipped.isEmpty {
                    return contents
                }
                if try status(of: name) == before { break }
            }
            return try load(name)
        } catch let corruption as Corruption {
            throw StoreFailure(
                reason: "\(directory)/\(name): \(corruption.what); a start would put it aside and begin a new log"
            )
        } catch OpenError.unavailable(let failure) {
            throw failure
        } catch let failure as SystemFailure {
            throw StoreFailure(failure, of: "\(directory)/\(name)")
        } catch {
            throw StoreFailure(reason: "\(directory)/\(name): \(error)")
        }
    }

    private func load(_ name: String) throws -> LogContents {
        try recovery.load(StoreFolder(in: directory, name: name, isRead: true))
    }

    /// The name of the folder that a start would read.
    private func name() throws(StoreFailure) -> String {
        func has(_ name: String) -> Bool { FileIdentity(of: "\(directory)/\(name)") != nil }
        if has(StoreFolder.name) { return StoreFolder.name }
        if StoreFolder.hasWholeRewrite(in: directory) { return StoreFolder.rewritten }
        do throws(SystemFailure) {
            if try FileStatus.names(in: directory).contains(where: { LogName.parse($0) != nil }) { return "." }
        } catch {
            throw StoreFailure(error, of: directory)
        }
        throw StoreFailure(
            reason: "\(directory) has no store: a state directory has a folder named \(StoreFolder.name)"
        )
    }

    /// The names, sizes and times of the files.
    private func status(of name: String) throws -> [String: [Int]] {
        let path = "\(directory)/\(name)"
        return try FileStatus.names(in: path).reduce(into: [:]) { files, name in
            guard let status = FileIdentity.status(of: "\(path)/\(name)") else { return }
            files[name] = [Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        }
    }

    // MARK: Writing

    private static func flush(_ lines: inout JSONWriter) throws(SystemFailure) {
        try lines.withBytes { bytes throws(SystemFailure) in try Descriptor.writeAll(bytes, to: STDOUT_FILENO) }
        lines.removeAll()
    }
}
