import CountdownCore
import Fleet
import Glibc
import System
import Varlink

/// The files of a log that count, in their order.
struct LogFiles {
    struct File {
        let kind: LogName.Kind
        let number: Int64
        let name: String
        /// The first state that can be read; nil if there is none.
        var state: StateLine?
        /// The number of its first turn, and the sum of the turn before; nil if the first turn cannot be read.
        var turn: Int64?
        var sum: UInt32?
    }

    private let folder: StoreFolder
    let base: File?
    private(set) var segments: [File] = []
    /// Segments behind the end of the history: the power failed before they were on the disk.
    private(set) var lost: [File] = []
    /// The names of files that the base replaces, or that were never finished.
    let obsolete: [String]
    /// Names that are no file of a log.
    let strange: [String]

    var last: File? { segments.last }

    /// - Parameters:
    ///   - folder: of the log.
    ///   - bootID: of this boot.
    /// - Throws: `Corruption` if files are missing or of another log.
    init(of folder: StoreFolder, bootID: String) throws {
        self.folder = folder
        let names = try folder.names().sorted()
        let known = names.compactMap(LogName.parse)
        let base = known.filter { $0.kind == .base }.map(\.number).max() ?? 0
        let numbers = known.filter { $0.kind == .segment && $0.number >= max(1, base) }.map(\.number).sorted()
        var files: [File] = []
        for number in numbers { files.append(try Self.file(.segment, number, in: folder)) }
        segments = files
        try Self.dropLost(&segments, &lost, bootID: bootID)
        self.base = base == 0 ? nil : try Self.file(.base, base, in: folder)
        let id = segments.last?.state?.store
        var obsolete = names.filter { name in
            name.hasSuffix(LogName.unfinished) && LogName.parse(String(name.dropLast(LogName.unfinished.count))) != nil
        }
        let older = known.filter { $0.number < base }
        for (kind, number) in older {
            let file = try Self.file(kind, number, in: folder)
            if file.state?.store == id { obsolete.append(file.name) }
        }
        self.obsolete = obsolete
        strange = names.filter { LogName.parse($0) == nil && !obsolete.contains($0) }
        try checkOrder(bootID: bootID)
    }

    private static func file(_ kind: LogName.Kind, _ number: Int64, in folder: StoreFolder) throws -> File {
        var file = File(kind: kind, number: number, name: LogName.name(kind, number))
        var reader = try TurnReader(folder: folder.descriptor.number, name: file.name)
        let first = try reader.readHeading()
        if case .newer(let format) = first?.state { throw Corruption.newer(format, file: file.name) }
        if case .state(let state) = first?.state, let heading = first?.heading,
            heading == HeadingLine(kind, number, after: heading.sum)
        {
            (file.state, file.turn, file.sum) = (state, reader.chain.turn, heading.sum)
        }
        guard first?.isWhole != true || file.state == nil else { return file }
        // All states of a file are of one boot and one setting of the clock. A base is read without its state.
        file.state = kind == .segment ? try reader.findState() : nil
        return file
    }

    /// Without a power failure, the first turn of the last segment can be read: the segment gets its name afterwards.
    private static func dropLost(_ segments: inout [File], _ lost: inout [File], bootID: String) throws {
        while let last = segments.last, last.state == nil {
            guard let before = segments.last(where: { $0.state != nil })?.state, before.bootID != bootID else {
                throw Corruption.unreadable(file: last.name)
            }
            lost.insert(segments.removeLast(), at: 0)
        }
    }

    /// Checks that no file is missing.
    private mutating func checkOrder(bootID: String) throws {
        guard let first = segments.first, let last = segments.last?.state else {
            guard base == nil else { throw Corruption.missing(LogName.name(.segment, base?.number ?? 0)) }
            return
        }
        if let base, first.number != base.number { throw Corruption.missing(LogName.name(.segment, base.number)) }
        if base == nil, first.number != 1 { throw Corruption.missing(LogName.name(.base, first.number)) }
        for file in segments + (base.map { [$0] } ?? []) where file.state.map({ $0.store != last.store }) ?? false {
            throw Corruption.foreign(file: file.name)
        }
        guard
            let hole = segments.indices.dropFirst().first(where: { segments[$0].number != segments[$0 - 1].number + 1 })
        else { return }
        // The names behind it were given before the power failed, and this one was not on the disk.
        guard last.bootID != bootID, segments[hole - 1].state != nil, try !endsWithStop() else {
            throw Corruption.missing(LogName.name(.segment, segments[hole - 1].number + 1))
        }
        lost = segments[hole...] + lost
        segments.removeSubrange(hole...)
    }

    func reader(of file: File) throws -> TurnReader {
        try TurnReader(folder: folder.descriptor.number, name: file.name)
    }

    /// Whether the last turn of all is a clean stop, so that no power failure can have cost a turn.
    func endsWithStop() throws -> Bool {
        guard let last else { return false }
        let number = unsafe openat(folder.descriptor.number, last.name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        let file = try Descriptor(owning: number, of: "open")
        var end = Int64(lseek(file.number, 0, SEEK_END))
        var bytes: [UInt8] = []
        // Zeros may have been written ahead.
        while end > 0, bytes.isEmpty {
            let start = max(0, end - 1 << 20)
            bytes = [UInt8](repeating: 0, count: Int(end - start))
            let count = unsafe pread(file.number, &bytes, bytes.count, off_t(start))
            guard count >= 0 else { throw SystemFailure("read") }
            bytes.removeSubrange((bytes.prefix(count).lastIndex { $0 != 0 } ?? -1) + 1..<bytes.count)
            end = start
        }
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
        guard bytes.last == UInt8(ascii: "\n"), let trailer = lines.popLast(), Trailer(Array(trailer).span) != nil,
            let line = lines.popLast(), line.starts(with: Array("[\"state\"".utf8)),
            case .state(let state) = StateLine.read(0..<line.count, of: (Array(line) + [0]).span)
        else { return false }
        return state.wasStopped
    }
}
