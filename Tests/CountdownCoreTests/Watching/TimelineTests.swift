import CountdownCore
import Testing

/// The signs are explained at `Timeline`.
@Suite("What a watcher hears, as time goes by")
struct TimelineTests {
    @Test("a tick at each whole second that remains, none at the full duration, none at 0, and the end")
    func seconds() {
        let done = "-s-------"
        #expect(Timeline.heard(done) == "-s-2-1-f-")
    }

    @Test("a tick at each whole half second for whoever wants those")
    func halfSeconds() {
        let done = "-s-------"
        #expect(Timeline.heard(done, every: .milliseconds(500)) == "-s54321f-")
    }

    @Test("ticks where the interval goes into what remains, not into what has passed")
    func oddInterval() {
        let done = "-s-------"
        #expect(Timeline.heard(done, every: .seconds(2)) == "-s-1---f-")
    }

    @Test("no tick where the interval is the duration, or more")
    func longInterval() {
        let done = "-s-------"
        #expect(Timeline.heard(done, every: .seconds(3)) == "-s-----f-")
        #expect(Timeline.heard(done, every: .hours(1)) == "-s-----f-")
    }

    @Test("the same where it runs until an instant")
    func wall() {
        let done = "-w-------"
        #expect(Timeline.heard(done) == "-s-2-1-f-")
    }

    // MARK: Changes

    @Test("no tick while it is paused, and ticks at what remains then")
    func pause() {
        let done = "s--p---r------"
        #expect(Timeline.heard(done) == "s-2p---r1-f---")
    }

    @Test("no tick besides what pauses it at a whole second, none at resuming there")
    func pauseAtTick() {
        let done = "s-p--r------"
        #expect(Timeline.heard(done) == "s-p--r-1-f--")
    }

    @Test("a start until an instant, paused and resumed, goes on by the second")
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

    @Test("a restart ticks by itself alone")
    func restart() {
        let atTick = "s-S--------"
        #expect(Timeline.heard(atTick) == "s-S-2-1-f--")
        let between = "s--S-------"
        #expect(Timeline.heard(between) == "s-2S-2-1-f-")
    }

    @Test("a restart between half a second tells no tick of the first")
    func restartOften() {
        let done = "sS-S-S-S-------"
        #expect(Timeline.heard(done) == "sS-S-S-S-2-1-f-")
    }

    @Test("a start until an instant, restarted by duration, changes its clock")
    func restartOnOtherClock() {
        let done = "w--S--F----"
        #expect(Timeline.heard(done) == "s-2S-2-1-f-")
    }

    @Test("nothing after it was cancelled, and all again after it was started again")
    func cancel() {
        let done = "s--x---s-------"
        #expect(Timeline.heard(done) == "s-2x---s-2-1-f-")
    }

    // MARK: A watcher that comes and goes

    @Test("a watcher that comes between ticks hears of what there is, and those to come")
    func comesBetween() {
        let done = "s--o-----"
        #expect(Timeline.heard(done) == "---o1-f--")
    }

    @Test("a watcher that comes at a tick is told what remains, and not that tick")
    func comesAtTick() {
        let done = "s-o------"
        #expect(Timeline.heard(done) == "--o-1-f--")
    }

    @Test("a watcher that comes at the start hears of either, not both")
    func comesAtStart() {
        let done = "o-s------"
        #expect(Timeline.heard(done) == "--s-2-1-f")
    }

    @Test("a watcher that has gone hears nothing, and all from then on where it comes back")
    func goes() {
        let done = "so-q--------"
        #expect(Timeline.heard(done) == "-o2---------")
        let back = "so-qo-------"
        #expect(Timeline.heard(back) == "-o2-o-f-----")
    }

    // MARK: A daemon that is late

    @Test("where several ticks were slept through, the latest is told, once")
    func late() {
        let between = "szzzz---"
        #expect(Timeline.heard(between) == "s----1f-")
        let atTick = "szzz----"
        #expect(Timeline.heard(atTick) == "s---1-f-")
    }

    @Test("where the end was slept through, it alone is told")
    func lateEnd() {
        let done = "szzzzzzz--"
        #expect(Timeline.heard(done) == "s-------f-")
    }

    @Test("a watcher that comes late hears no tick of before, though it was not told yet")
    func comesLate() {
        let done = "szzzzo---"
        #expect(Timeline.heard(done) == "-----of--")
    }

    // MARK: A system clock that is set

    @Test("the boot clock's ticks stay where they are")
    func stepElapsed() {
        let forth = "s--F-------"
        #expect(Timeline.heard(forth) == "s-2-1-f----")
        let back = "s--B-------"
        #expect(Timeline.heard(back) == "s-2-1-f----")
    }

    @Test("the system clock's ticks go with it")
    func stepWall() {
        let forth = "w--F-------"
        #expect(Timeline.heard(forth) == "s-2-f------")
        let back = "w--B-------"
        #expect(Timeline.heard(back) == "s-2-2-1-f--")
    }

    @Test("what was told before a step at a whole second is told again where it comes again, not at once")
    func stepAtTick() {
        let forth = "w-F--------"
        #expect(Timeline.heard(forth) == "s---f------")
        let back = "w-B--------"
        #expect(Timeline.heard(back) == "s---2-1-f--")
    }

    @Test("a clock that is set to and fro is followed")
    func toAndFro() {
        let between = "w--B-F-----"
        #expect(Timeline.heard(between) == "s-2-2-f----")
        let atTicks = "w-B-F-B-F---"
        #expect(Timeline.heard(atTicks) == "s-------f---")
    }

    @Test("a step past the end tells the end alone")
    func stepPastEnd() {
        let done = "w-FFF---"
        #expect(Timeline.heard(done) == "s--f----")
    }
}
