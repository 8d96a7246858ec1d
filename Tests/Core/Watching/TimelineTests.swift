import CountdownCore
import Testing

/// The signs are explained at `Timeline`.
@Suite("Timelines of a watcher")
struct TimelineTests {
    @Test("a tick at each whole second that remains, none at the full duration, none at 0, and the end")
    func seconds() {
        let done = "-s-------"
        #expect(Timeline.heard(done) == "-s-2-1-f-")
    }

    @Test("a tick at each half second if the interval is half a second")
    func halfSeconds() {
        let done = "-s-------"
        #expect(Timeline.heard(done, every: .milliseconds(500)) == "-s54321f-")
    }

    @Test("ticks at multiples of the interval in the remaining time, not in the elapsed time")
    func oddInterval() {
        let done = "-s-------"
        #expect(Timeline.heard(done, every: .seconds(2)) == "-s-1---f-")
    }

    @Test("no tick if the interval is the duration or more")
    func longInterval() {
        let done = "-s-------"
        #expect(Timeline.heard(done, every: .seconds(3)) == "-s-----f-")
        #expect(Timeline.heard(done, every: .hours(1)) == "-s-----f-")
    }

    @Test("the same with a deadline")
    func wall() {
        let done = "-w-------"
        #expect(Timeline.heard(done) == "-s-2-1-f-")
    }

    // MARK: Changes

    @Test("no tick while it is paused, and ticks by the remaining time afterwards")
    func pause() {
        let done = "s--p---r------"
        #expect(Timeline.heard(done) == "s-2p---r1-f---")
    }

    @Test("no tick beside a pause at a whole second, and none at the resumption")
    func pauseAtTick() {
        let done = "s-p--r------"
        #expect(Timeline.heard(done) == "s-p--r-1-f--")
    }

    @Test("a countdown with a deadline ticks by the second after a pause")
    func pauseWall() {
        let done = "w--p---r------"
        #expect(Timeline.heard(done) == "s-2p---r1-f---")
    }

    @Test("one more second, at a whole second and between")
    func more() {
        let atTick = "s-+---------"
        #expect(Timeline.heard(atTick) == "s-a-2-1-f---")
        let between = "s--+-------"
        #expect(Timeline.heard(between) == "s-2a2-1-f--")
    }

    @Test("one second less")
    func less() {
        let done = "s--<-------"
        #expect(Timeline.heard(done) == "s-2af------")
    }

    @Test("after a restart only the new countdown ticks")
    func restart() {
        let atTick = "s-S--------"
        #expect(Timeline.heard(atTick) == "s-S-2-1-f--")
        let between = "s--S-------"
        #expect(Timeline.heard(between) == "s-2S-2-1-f-")
    }

    @Test("after a restart between ticks the first countdown does not tick")
    func restartOften() {
        let done = "sS-S-S-S-------"
        #expect(Timeline.heard(done) == "sS-S-S-S-2-1-f-")
    }

    @Test("a countdown with a deadline that is restarted with a duration changes its clock")
    func restartOnOtherClock() {
        let done = "w--S--F----"
        #expect(Timeline.heard(done) == "s-2S-2-1-f-")
    }

    @Test("nothing after it was cancelled, and everything again after it was started again")
    func cancel() {
        let done = "s--x---s-------"
        #expect(Timeline.heard(done) == "s-2x---s-2-1-f-")
    }

    // MARK: A watcher that comes and goes

    @Test("a watcher that opens between ticks receives the state and the ticks to come")
    func comesBetween() {
        let done = "s--o-----"
        #expect(Timeline.heard(done) == "---o1-f--")
    }

    @Test("a watcher that opens at a tick receives the state, and not that tick")
    func comesAtTick() {
        let done = "s-o------"
        #expect(Timeline.heard(done) == "--o-1-f--")
    }

    @Test("a watcher that opens at the start receives attached or started, not both")
    func comesAtStart() {
        let done = "o-s------"
        #expect(Timeline.heard(done) == "--s-2-1-f")
    }

    @Test("a watcher that left receives nothing, and everything after it has come back")
    func goes() {
        let done = "so-q--------"
        #expect(Timeline.heard(done) == "-o2---------")
        let back = "so-qo-------"
        #expect(Timeline.heard(back) == "-o2-o-f-----")
    }

    // MARK: A daemon that is late

    @Test("if several ticks fell into a suspend, the latest is delivered, once")
    func late() {
        let between = "szzzz---"
        #expect(Timeline.heard(between) == "s----1f-")
        let atTick = "szzz----"
        #expect(Timeline.heard(atTick) == "s---1-f-")
    }

    @Test("if the end fell into a suspend, only the end is delivered")
    func lateEnd() {
        let done = "szzzzzzz--"
        #expect(Timeline.heard(done) == "s-------f-")
    }

    @Test("a watcher that opens late receives no earlier tick, even if that is not delivered yet")
    func comesLate() {
        let done = "szzzzo---"
        #expect(Timeline.heard(done) == "-----of--")
    }

    // MARK: A system clock that is set

    @Test("ticks on the boot clock stay if the system clock is set")
    func stepElapsed() {
        let forth = "s--F-------"
        #expect(Timeline.heard(forth) == "s-2-1-f----")
        let back = "s--B-------"
        #expect(Timeline.heard(back) == "s-2-1-f----")
    }

    @Test("ticks on the system clock move with it")
    func stepWall() {
        let forth = "w--F-------"
        #expect(Timeline.heard(forth) == "s-2-f------")
        let back = "w--B-------"
        #expect(Timeline.heard(back) == "s-2-2-1-f--")
    }

    @Test("a tick that was delivered before a clock step is delivered again when it comes again, not at once")
    func stepAtTick() {
        let forth = "w-F--------"
        #expect(Timeline.heard(forth) == "s---f------")
        let back = "w-B--------"
        #expect(Timeline.heard(back) == "s---2-1-f--")
    }

    @Test("a clock that is set back and forth is followed")
    func toAndFro() {
        let between = "w--B-F-----"
        #expect(Timeline.heard(between) == "s-2-2-f----")
        let atTicks = "w-B-F-B-F---"
        #expect(Timeline.heard(atTicks) == "s-------f---")
    }

    @Test("a clock step past the deadline delivers only the end")
    func stepPastEnd() {
        let done = "w-FFF---"
        #expect(Timeline.heard(done) == "s--f----")
    }
}
