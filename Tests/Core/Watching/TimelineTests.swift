import CountdownCore
import Testing

/// The signs are explained at `Timeline`.
@Suite("Timelines of a watcher")
struct TimelineTests {
    /// Promises, and under each what is done and heard, with the interval in milliseconds if it is not a second.
    static let table = """
        a tick at each whole second that remains, none at the full duration, none at 0, and the end
            -s-------         -s-2-1-f-
        a tick at each half second if the interval is half a second
            -s-------         -s54321f-  500
        ticks at multiples of the interval in the remaining time, not in the elapsed time
            -s-------         -s-1---f-  2000
        no tick if the interval is the duration or more
            -s-------         -s-----f-  3000
            -s-------         -s-----f-  3600000
        the same with a deadline
            -w-------         -s-2-1-f-
        no tick while it is paused, and ticks by the remaining time afterwards
            s--p---r------    s-2p---r1-f---
        no tick beside a pause at a whole second, and none at the resumption
            s-p--r------      s-p--r-1-f--
        a countdown with a deadline ticks by the second after a pause
            w--p---r------    s-2p---r1-f---
        one more second, at a whole second and between
            s-+---------      s-a-2-1-f---
            s--+-------       s-2a2-1-f--
        one second less
            s--<-------       s-2af------
        after a restart only the new countdown ticks
            s-S--------       s-S-2-1-f--
            s--S-------       s-2S-2-1-f-
        after a restart between ticks the first countdown does not tick
            sS-S-S-S-------   sS-S-S-S-2-1-f-
        a countdown with a deadline that is restarted with a duration changes its clock
            w--S--F----       s-2S-2-1-f-
        nothing after it was cancelled, and everything again after it was started again
            s--x---s-------   s-2x---s-2-1-f-
        a watcher that opens between ticks receives the state and the ticks to come
            s--o-----         ---o1-f--
        a watcher that opens at a tick receives the state, and not that tick
            s-o------         --o-1-f--
        a watcher that opens at the start receives attached or started, not both
            o-s------         --s-2-1-f
        a watcher that left receives nothing, and everything after it has come back
            so-q--------      -o2---------
            so-qo-------      -o2-o-f-----
        if several ticks fell into a suspend, the latest is delivered, once
            szzzz---          s----1f-
            szzz----          s---1-f-
        if the end fell into a suspend, only the end is delivered
            szzzzzzz--        s-------f-
        a watcher that opens late receives no earlier tick, even if that is not delivered yet
            szzzzo---         -----of--
        ticks on the boot clock stay if the system clock is set
            s--F-------       s-2-1-f----
            s--B-------       s-2-1-f----
        ticks on the system clock move with it
            w--F-------       s-2-f------
            w--B-------       s-2-2-1-f--
        a tick that was delivered before a clock step is delivered again when it comes again, not at once
            w-F--------       s---f------
            w-B--------       s---2-1-f--
        a clock that is set back and forth is followed
            w--B-F-----       s-2-2-f----
            w-B-F-B-F---      s-------f---
        a clock step past the deadline delivers only the end
            w-FFF---          s--f----
        """

    struct Promise: CustomTestStringConvertible {
        let testDescription: String
        var lines: [[String]] = []
    }

    static var promises: [Promise] {
        table.split(separator: "\n").reduce(into: []) { promises, line in
            if line.hasPrefix(" ") {
                promises[promises.count - 1].lines.append(line.split(separator: " ").map(String.init))
            } else {
                promises.append(Promise(testDescription: String(line)))
            }
        }
    }

    @Test("are as in the table", arguments: promises)
    func promise(_ promise: Promise) {
        #expect(!promise.lines.isEmpty)
        for line in promise.lines {
            let interval = line.count > 2 ? Int64(line[2]) ?? 0 : 1_000
            #expect(Timeline.heard(line[0], every: .milliseconds(interval)) == line[1])
        }
    }
}
