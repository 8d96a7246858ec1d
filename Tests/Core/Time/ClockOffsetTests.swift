import CountdownCore
import TestSupport
import Testing

@Suite("The offset between the clocks")
struct ClockOffsetTests {
    var clocks = SimulatedClocks()
    var offset: ClockOffset

    init() {
        offset = ClockOffset(clocks.read())
    }

    @Test(
        "time that passes, awake or in suspend, is no step: both clocks go on",
        arguments: [.seconds(5), Duration.hours(8)]
    )
    mutating func passing(span: Duration) {
        clocks.pass(span)
        let (now, step) = offset.take(clocks.read())
        #expect(now == clocks.now)
        #expect(step == nil)
    }

    @Test("the first reading counts as made in its middle")
    mutating func middle() {
        let reading = clocks.read(width: .milliseconds(10), wallAfter: .milliseconds(4))
        #expect(ClockOffset(reading).held == clocks.offset - .milliseconds(1))
    }

    @Test("noise of the readings changes nothing, and does not accumulate")
    mutating func noise() {
        var generator = SeededGenerator(seed: 1)
        let held = offset.held
        for _ in 0..<1_000 {
            clocks.pass(.seconds(1))
            let reading = clocks.read(
                width: .microseconds(.random(in: 0...3, using: &generator)),
                wallAfter: .microseconds(.random(in: -49...49, using: &generator))
            )
            #expect(offset.take(reading).step == nil)
            #expect(offset.held == held)
        }
    }

    @Test(
        "a delayed reading is no step, wherever the delay was",
        arguments: [0, 1, 500_000, 999_999, 1_000_000]
    )
    mutating func slowReading(wallAfter: Int64) {
        let held = offset.held
        let (now, step) = offset.take(clocks.read(width: .seconds(1), wallAfter: .microseconds(wallAfter)))
        #expect(step == nil)
        #expect(offset.held == held)
        #expect(now.boot == clocks.boot - .seconds(1))
    }

    @Test("a small correction during a slow reading is no step of half the delay")
    mutating func nudgeInSlowReading() {
        clocks.setWall(by: -.microseconds(60))
        let (_, step) = offset.take(clocks.read(width: .milliseconds(10)))
        #expect(step == nil)
        #expect(offset.held == clocks.offset)
        #expect(offset.take(clocks.read()).step == nil)
    }

    @Test(
        "a step is reported in both directions, once",
        arguments: [Duration.hours(1), -.hours(1), .years(10), -.years(50), .milliseconds(1), -.milliseconds(1)]
    )
    mutating func step(by span: Duration) {
        clocks.setWall(by: span)
        let (now, step) = offset.take(clocks.read())
        #expect(step == span)
        #expect(now == clocks.now)
        clocks.pass(.seconds(1))
        #expect(offset.take(clocks.read()).step == nil)
    }

    @Test("a step within a slow reading is corrected by the next reading")
    mutating func stepInSlowReading() {
        clocks.setWall(by: .hours(1))
        let step = offset.take(clocks.read(width: .seconds(1), wallAfter: .milliseconds(300))).step
        #expect(step == .hours(1) - .milliseconds(700))
        #expect(offset.take(clocks.read()).step == .milliseconds(700))
        #expect(offset.held == clocks.offset)
    }

    @Test(
        "a difference below a step is corrected without a report, unless it is within the tolerance",
        arguments: [(51, true), (999, true), (-51, true), (-999, true), (50, false), (-50, false)]
    )
    mutating func correction(microseconds: Int64, isCorrected: Bool) {
        let held = offset.held
        clocks.setWall(by: .microseconds(microseconds))
        #expect(offset.take(clocks.read()).step == nil)
        #expect(offset.held == (isCorrected ? clocks.offset : held))
    }

    @Test("small corrections never accumulate to a wrong offset")
    mutating func drift() {
        for _ in 0..<1_000 {
            clocks.pass(.seconds(1))
            clocks.setWall(by: .microseconds(30))
            #expect(offset.take(clocks.read()).step == nil)
            #expect((clocks.offset - offset.held).microseconds.magnitude <= 50)
        }
    }

    @Test("an offset that was held before is continued")
    mutating func held() {
        var next = ClockOffset(held: offset.held)
        #expect(
            next.take(clocks.read(width: .microseconds(40), wallAfter: .microseconds(30))).now.offset == offset.held
        )
    }

    @Test("readings at the ends of the range do not trap", arguments: [Int64.min, 0, .max], [Int64.min, 0, .max])
    mutating func extremes(boot: Int64, wall: Int64) {
        for after in [boot, boot.advanced(by: boot == .max ? 0 : 1), .max, .min] {
            let reading = ClockOffset.Reading(
                before: BootInstant(microseconds: boot),
                wall: WallInstant(microseconds: wall),
                after: BootInstant(microseconds: after)
            )
            let now = offset.take(reading).now
            #expect(now.boot.microseconds == boot)
            var fresh = ClockOffset(reading)
            #expect(fresh.take(reading).now.boot == now.boot)
        }
    }
}
