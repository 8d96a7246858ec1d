import Foundation
import Glibc
import TestSupport

/// The files of a traced daemon below its state directory, with what a disk has of them for sure and what it may have.
///
/// What was synced is on the disk. Of all else any part is: of each page what it held at some moment since, of a page that was
/// torn each sector; of names any changes, a renaming as one.
struct Disk {
    private static let pageSize = 4_096
    private static let sectorSize = 512

    /// A part of a page that was written at once; zeros if `source` is nil.
    private struct Piece {
        let offset: Int
        let count: Int
        let source: Int?
    }

    private struct Page {
        var pieces: [Piece] = []
        var synced = 0
    }

    private struct File {
        var pages: [Int: Page] = [:]
        /// The lengths since the last sync; the first one is on the disk.
        var sizes = [0]
        var unsynced: Set<Int> = []

        mutating func write(_ count: Int, at start: Int, from source: Int?) {
            var done = 0
            while done < count {
                let (page, offset) = (start + done).quotientAndRemainder(dividingBy: pageSize)
                let portion = min(pageSize - offset, count - done)
                pages[page, default: Page()].pieces.append(
                    Piece(offset: offset, count: portion, source: source.map { $0 + done })
                )
                unsynced.insert(page)
                done += portion
            }
            sizes.append(max(sizes.last ?? 0, start + count))
        }

        mutating func truncate(to length: Int) {
            let size = sizes.last ?? 0
            if length < size { write(size - length, at: length, from: nil) }
            sizes.append(length)
        }

        /// A sync of a range has the length too, which it needs to be read.
        mutating func sync(_ range: Range<Int>? = nil) {
            let synced = range.map { $0.lowerBound / pageSize..<($0.upperBound + pageSize - 1) / pageSize }
            for page in unsynced where synced?.contains(page) ?? true {
                let count = pages[page]?.pieces.count ?? 0
                pages[page]?.synced = count
                unsynced.remove(page)
            }
            sizes = [sizes.last ?? 0]
        }
    }

    private struct Folder {
        /// Changes that belong together: names, and what they name then.
        var changes: [[String: Int?]] = []
        var synced: [String: Int] = [:]
        var names: [String: Int] = [:]

        mutating func change(_ change: [String: Int?]) {
            changes.append(change)
            names.apply(change)
        }

        mutating func sync() {
            synced = names
            changes = []
        }
    }

    private struct Open {
        let node: Int
        let waitsForDisk: Bool
    }

    private let trace: Trace
    private let root: String
    private var files: [Int: File] = [:]
    private var folders: [Int: Folder] = [0: Folder()]
    private var descriptors: [Int32: Open] = [:]
    private var nodes = 1
    /// How many records have happened.
    private(set) var position = 0

    init(_ trace: Trace, root: String) {
        (self.trace, self.root) = (trace, root)
    }

    // MARK: What happens

    /// Lets everything happen up to a record; the call that comes then may have been on its way.
    mutating func proceed(to record: Int) {
        while position < record {
            note(trace.records[position], isOver: true)
            position += 1
        }
    }

    /// The disk if the next call had an effect, but did not return.
    private var withCallOnItsWay: Disk {
        var disk = self
        if position < trace.records.count { disk.note(trace.records[position], isOver: false) }
        return disk
    }

    private mutating func note(_ record: Trace.Record, isOver: Bool) {
        let open = descriptors[record.descriptor]
        switch record.letter {
        case "P": descriptors = [:]
        case "x": descriptors[record.descriptor] = nil
        case "o": self.open(record)
        case "d": add(folder: record.path)
        case "w":
            guard let open else { return }
            let range = Int(record.offset)..<Int(record.offset) + record.bytes.count
            files[open.node]?.write(record.bytes.count, at: range.lowerBound, from: record.bytes.lowerBound)
            if open.waitsForDisk, isOver { files[open.node]?.sync(range) }
        case "t": files[open?.node ?? -1]?.truncate(to: Int(record.offset))
        case "s":
            guard isOver, let open else { return }
            files[open.node]?.sync()
            folders[open.node]?.sync()
        case "n":
            guard let (folder, name) = place(of: record.path), let (target, other) = place(of: record.other) else {
                return
            }
            let node = folders[folder]?.names[name]
            if folder == target {
                folders[folder]?.change([name: nil, other: node])
            } else {
                folders[folder]?.change([name: nil])
                folders[target]?.change([other: node])
            }
        case "k":
            guard let (folder, name) = place(of: record.path), let (target, other) = place(of: record.other) else {
                return
            }
            let node = folders[folder]?.names[name]
            folders[target]?.change([other: node])
        case "u":
            guard let (folder, name) = place(of: record.path) else { return }
            folders[folder]?.change([name: nil])
        default: break
        }
    }

    private mutating func open(_ record: Trace.Record) {
        let flags = Int32(record.offset)
        if record.path == root {
            descriptors[record.descriptor] = Open(node: 0, waitsForDisk: false)
            return
        }
        guard let (folder, name) = place(of: record.path) else { return }
        var node = folders[folder]?.names[name]
        if node == nil, flags & O_CREAT != 0 {
            files[nodes] = File()
            folders[folder]?.change([name: nodes])
            node = nodes
            nodes += 1
        }
        guard let node else { return }
        if flags & O_TRUNC != 0, files[node]?.sizes != [0] { files[node]?.truncate(to: 0) }
        descriptors[record.descriptor] = Open(node: node, waitsForDisk: flags & O_DSYNC != 0)
    }

    private mutating func add(folder path: String) {
        guard path != root, let (parent, name) = place(of: path) else { return }
        folders[nodes] = Folder()
        folders[parent]?.change([name: nodes])
        nodes += 1
    }

    private func place(of path: String) -> (folder: Int, name: String)? {
        guard path.hasPrefix(root + "/") else { return nil }
        var parts = path.dropFirst(root.count + 1).split(separator: "/").map(String.init)
        let name = parts.removeLast()
        var folder = 0
        for part in parts {
            guard let next = folders[folder]?.names[part] else { return nil }
            folder = next
        }
        return (folder, name)
    }

    // MARK: The failure of the power

    /// Makes a directory with what the disk has when the power is back.
    func image(at path: String, _ dice: inout SeededGenerator) throws {
        var made: [Int: String] = [:]
        try withCallOnItsWay.lay(0, at: path, &made, &dice)
    }

    private func lay(_ node: Int, at path: String, _ made: inout [Int: String], _ dice: inout SeededGenerator) throws {
        if let other = made[node] {
            guard link(other, path) == 0 else { throw SystemCallFailure("link") }
            return
        }
        made[node] = path
        if let file = files[node] {
            FileManager.default.createFile(atPath: path, contents: content(of: file, &dice), attributes: nil)
        } else if let folder = folders[node] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, node) in names(of: folder, &dice).sorted(by: { $0.key < $1.key }) {
                try lay(node, at: "\(path)/\(name)", &made, &dice)
            }
        }
    }

    private func names(of folder: Folder, _ dice: inout SeededGenerator) -> [String: Int] {
        var names = folder.synced
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: break
        case 1: return folder.names
        case 2:
            for change in folder.changes.prefix(.random(in: 0...folder.changes.count, using: &dice)) {
                names.apply(change)
            }
        default: for change in folder.changes where Bool.random(using: &dice) { names.apply(change) }
        }
        return names
    }

    private func content(of file: File, _ dice: inout SeededGenerator) -> Data {
        let share = [0, 5, 50, 95, 100].randomElement(using: &dice) ?? 0
        let tearsPages = Bool.random(using: &dice)
        let size = share == 100 ? file.sizes.last ?? 0 : file.sizes.randomElement(using: &dice) ?? 0
        var content = Data(count: size)
        for (number, page) in file.pages.sorted(by: { $0.key < $1.key }) where number * Self.pageSize < size {
            func choose() -> Int {
                guard Int.random(in: 0..<100, using: &dice) < share else { return page.synced }
                return share == 100 || Int.random(in: 0..<3, using: &dice) > 0
                    ? page.pieces.count : .random(in: page.synced...page.pieces.count, using: &dice)
            }
            if page.synced == page.pieces.count || !tearsPages {
                let count = choose()
                fill(&content, number, page.pieces.prefix(count), 0..<Self.pageSize)
            } else {
                for sector in stride(from: 0, to: Self.pageSize, by: Self.sectorSize) {
                    fill(&content, number, page.pieces.prefix(choose()), sector..<sector + Self.sectorSize)
                }
            }
        }
        return content
    }

    /// Puts what was written to a part of a page into a file.
    private func fill(_ content: inout Data, _ page: Int, _ pieces: ArraySlice<Piece>, _ part: Range<Int>) {
        let start = page * Self.pageSize
        let size = content.count
        content.withUnsafeMutableBytes { content in
            trace.content.withUnsafeBytes { source in
                for piece in pieces {
                    let range = (piece.offset..<piece.offset + piece.count).clamped(to: part)
                    let count = min(range.count, size - start - range.lowerBound)
                    guard count > 0, let target = content.baseAddress.map({ $0 + start + range.lowerBound }) else {
                        continue
                    }
                    guard let from = piece.source, let source = source.baseAddress else {
                        memset(target, 0, count)
                        continue
                    }
                    memcpy(target, source + from + range.lowerBound - piece.offset, count)
                }
            }
        }
    }
}

extension [String: Int] {
    fileprivate mutating func apply(_ change: [String: Int?]) {
        for (name, node) in change { self[name] = node }
    }
}
