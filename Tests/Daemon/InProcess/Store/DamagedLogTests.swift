import CountdownCore
import Foundation
import TestSupport
import Testing
import Varlink

@testable import countdownd

@Suite("A damaged log")
final class DamagedLogTests: StoreSuite {
    /// The countdowns after each turn, from the second turn on, which has no change.
    private var history: [[KeyedCountdown]] = []
    /// The positions in the file at which these turns end.
    private var ends: [Int] = []
    private var whole: [UInt8] = []
    private let name = "0000000001.log"

    /// Twelve turns of a daemon that was killed.
    override init() throws {
        try super.init()
        let keeper = try scene.open()
        history.append([])
        for number in 0..<12 {
            try keeper.turn(.restart("key \(number % 5)", label: "\(number)"), .start("new \(number)"), at: scene.now)
            history.append(keeper.known)
        }
        try scene.crash()
        whole = try scene.log.bytes(of: name)
        ends = try scene.log.ends(of: name).suffix(history.count)
    }

    private func open(
        _ bytes: some Sequence<UInt8>,
        rebooted: Bool
    ) throws -> (keys: [String], labels: [String?], said: [String]) {
        let scene = try StoreScene()
        unsafe mkdir(scene.log.folder, 0o700)
        try scene.log.write(bytes, to: name)
        if rebooted { scene.reboot() }
        let keeper = try scene.open()
        return (keeper.keys, keeper.known.map(\.label), scene.lines.all)
    }

    /// Whether what was read is the state after a turn.
    private func isState(_ turn: Int, _ read: (keys: [String], labels: [String?], said: [String])) -> Bool {
        history[turn].map(\.key.text) == read.keys && history[turn].map(\.label) == read.labels
    }

    @Test(
        "that was cut off anywhere has every turn before that, and nothing is reported as damage",
        arguments: [false, true]
    )
    func cut(rebooted: Bool) throws {
        for length in stride(from: ends[0], through: whole.count, by: 7) {
            let turn = ends.lastIndex { $0 <= length } ?? 0
            let read = try open(whole.prefix(length), rebooted: rebooted)
            #expect(isState(turn, read), "\(length)")
            #expect(read.said.isEmpty, "\(read.said)")
        }
    }

    @Test("after a power failure ends with the last turn before the damage, and the rest is kept and reported")
    func powerFailure() throws {
        for turn in 1..<12 {
            for zeroed in [
                ends[turn - 1]..<ends[turn - 1] + 8, ends[turn] - 5..<ends[turn], ends[turn - 1]..<ends[turn],
            ] {
                var bytes = whole
                for place in zeroed { bytes[place] = 0 }
                let read = try open(bytes, rebooted: true)
                #expect(isState(turn - 1, read), "\(turn)")
                #expect(read.said.contains { $0.contains("the history ends in \(name)") }, "\(read.said)")
                #expect(read.said.contains { $0.contains("the files are kept in ") && $0.contains("log-damaged-") })
            }
        }
    }

    @Test(
        "in the same boot loses nothing but what the damage hit, wherever one byte has changed",
        arguments: 0..<3 as Range<UInt64>
    )
    func flipped(part: UInt64) throws {
        var generator = SeededGenerator(seed: part)
        for _ in 0..<60 {
            // A last turn without its trailer is one that was not whole when the daemon was killed.
            let place = Int.random(in: 0..<ends[11], using: &generator)
            var bytes = whole
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            let turn = ends.firstIndex { $0 > place } ?? 0
            let read = try open(bytes, rebooted: false)
            #expect(!read.said.isEmpty, "\(place)")
            for number in 1...12 where number != turn { #expect(read.keys.contains("new \(number - 1)"), "\(place)") }
        }
    }

    @Test(
        "in the same boot loses nothing but what the damage hit, if a part stands twice, in a wrong place, or in place of another",
        arguments: 0..<3 as Range<UInt64>
    )
    func misplaced(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<80 {
            let length = Int.random(in: 1..<300, using: &generator)
            let from = Int.random(in: ends[0]..<ends[11] - length, using: &generator)
            // What stands between is longer than the part. Else it would be what stands in a wrong place.
            let places = (ends[0]..<ends[11] - length).filter { abs($0 - from) > 3 * length }
            guard let other = places.randomElement(using: &generator) else { continue }
            let part = whole[from..<from + length]
            var bytes = whole
            let hit: [Range<Int>]
            switch round % 4 {
            case 0:
                hit = [from + length..<from + length]
                bytes.insert(contentsOf: part, at: from + length)
            case 1:
                hit = [other..<other]
                bytes.insert(contentsOf: part, at: other)
            case 2:
                hit = [from..<from + length, other..<other]
                bytes.insert(contentsOf: part, at: other)
                bytes.removeSubrange(other < from ? from + length..<from + 2 * length : from..<from + length)
            default:
                hit = [from..<from + length, other..<other + length]
                bytes.replaceSubrange(from..<from + length, with: whole[other..<other + length])
                bytes.replaceSubrange(other..<other + length, with: part)
            }
            let read = try open(bytes, rebooted: false)
            let lost = (1...12).filter { turn in
                let isHit = hit.contains { $0.lowerBound < ends[turn] && $0.upperBound > ends[turn - 1] }
                return !isHit && !read.keys.contains("new \(turn - 1)")
            }
            // Two parts of lines can make one that names the key of a third.
            #expect(lost.count <= 1, "round \(round): \(lost)")
        }
    }

    @Test("after a power failure that spared a later segment has the same turns at the next start, too")
    func laterSegment() throws {
        let state = try #require(try scene.log.state)
        let found = Trailer(Array(whole.split(separator: 10).last ?? []).span)
        let trailer = try #require(found)
        let chain = TurnChain(turn: trailer.turn + 1, sum: trailer.crc)
        try scene.log.write(Segment.firstTurns(of: 2, after: chain, state).bytes, to: "0000000002.log")
        var bytes = whole
        for place in ends[5]..<ends[6] { bytes[place] = 0 }
        try scene.log.write(bytes, to: name)
        scene.reboot()
        for _ in 0..<2 {
            do { #expect(try scene.open().keys == history[5].map(\.key.text)) }
            try scene.crash()
        }
        #expect(scene.lines.all.count { $0.contains("damaged: ") } == 0, "\(scene.lines.all)")
    }

    @Test("with a turn that was refused and is on the disk all the same does not have that turn")
    func refused() throws {
        // The refused turn is whole, and the next segment begins with a turn of the same number.
        let state = try #require(try scene.log.state)
        let line = Array(whole[..<ends[11]].split(separator: 10).last ?? [])
        let found = Trailer(line.span)
        let trailer = try #require(found)
        let chain = TurnChain(turn: trailer.turn + 1, sum: trailer.crc)
        let (next, behind) = Segment.firstTurns(of: 2, after: chain, state)
        let last = history[11].map(\.key.text)
        try scene.log.write(next, to: "0000000002.log")
        for boot in ["first boot", "second boot"] {
            scene.bootID = boot
            #expect(behind.turn == chain.turn + 2)
            do { #expect(try scene.open().keys == last) }
            try scene.crash()
        }
        #expect(scene.lines.all.isEmpty)
    }

    @Test("reads a trailer only if it is, byte for byte, what a daemon writes")
    func trailers() {
        let text = #"{"turn":12,"bytes":72,"crc":759575200}"#
        func read(_ text: String) -> Trailer? { Trailer(Array(text.utf8).span) }
        #expect(read(text) == Trailer(turn: 12, bytes: 72, crc: 759_575_200))
        let others = [
            "", " \(text)", "\(text) ", text.replacing("12", with: "012"), text.replacing(":", with: ": "),
            text.replacing("759575200", with: "4294967296"), text.replacing("12", with: "-1"),
            text.replacing("12", with: ""),
            text.replacing("12", with: "99999999999999999999"), String(text.dropLast()),
        ]
        for other in others { #expect(read(other) == nil, "\(other)") }
    }
}
