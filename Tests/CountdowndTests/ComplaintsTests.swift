import CountdownCore
import Testing

@testable import countdownd

@Suite("Lines that peers bring about")
struct ComplaintsTests {
    private let lines = Lines()
    private var complaints: Complaints

    init() {
        var policy = Policy()
        policy.logLines = 2
        policy.logSpan = .seconds(60)
        complaints = Complaints(policy: policy)
    }

    private func at(_ seconds: Int64) -> BootInstant { BootInstant(microseconds: seconds * 1_000_000) }

    private mutating func write(_ kind: Complaints.Kind, _ numbers: ClosedRange<Int>, at seconds: Int64) {
        for number in numbers { complaints.write(kind, "\(kind) \(number)", to: lines.log, at: at(seconds)) }
    }

    @Test("are written up to their number, and summed up in one line when their time is over")
    mutating func sum() {
        write(.slow, 1...315, at: 0)
        #expect(lines.all == ["warning: slow 1", "warning: slow 2"])
        #expect(complaints.next == at(60))
        complaints.sumUp(to: lines.log, at: at(59))
        #expect(lines.all.count == 2)
        complaints.sumUp(to: lines.log, at: at(60))
        #expect(lines.all.dropFirst(2) == ["warning: slow 315, and 312 more like it"])
        #expect(complaints.next == nil)
        write(.slow, 316...316, at: 61)
        #expect(lines.all.last == "warning: slow 316")
    }

    @Test("of one kind keep none of another from being written")
    mutating func kinds() {
        write(.slow, 1...100, at: 0)
        write(.excess, 1...1, at: 1)
        #expect(lines.all.last == "warning: excess 1")
    }

    @Test("want no waking up where none was left out")
    mutating func quiet() {
        write(.slow, 1...2, at: 0)
        #expect(complaints.next == nil)
        write(.slow, 3...3, at: 1)
        complaints.sumUp(to: lines.log, at: at(60))
        #expect(lines.all.last == "warning: slow 3")
    }

    @Test("are not counted where their level is not logged")
    mutating func level() {
        let lines = lines
        let log = Log(level: .info) { level, message in lines.log.write(level, message) }
        for _ in 1...5 { complaints.write(.brokenProtocol, "broken", to: log, at: at(0)) }
        #expect(lines.all == [] && complaints.next == nil)
    }
}
