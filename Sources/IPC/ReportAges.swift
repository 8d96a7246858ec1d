import Varlink

/// How long ago ends came that a watch reports. It does no I/O and reads no clock: the owner passes the instants, in microseconds.
///
/// The system clock may be set between an end and its report, so its instants alone do not say it. An end that is reported while the
/// watch is up to date has just come. One that is reported later came after the watch was up to date last, on the boot clock. For
/// an end from before the program's first `synced`, only its instant is known.
package struct ReportAges {
    /// When the watch was up to date last, on the boot clock; nil if it never was.
    private var lastCurrent: Int64?
    private var isCurrent = false

    package init() {}

    /// Notes that the watch begins again, so that earlier ends come first.
    package mutating func watchWasLost() { isCurrent = false }

    /// Takes an event of the watch, at an instant of the boot clock.
    package mutating func receive(_ event: Event, boot: Int64) {
        if event.type == .synced { isCurrent = true }
        if isCurrent { lastCurrent = boot }
    }

    /// How long ago the daemon noticed the end in an event that was not received yet, at instants of both clocks.
    package func age(of event: Event, wall: Int64, boot: Int64) -> Int64 {
        guard !isCurrent, let countdown = event.countdown else { return 0 }
        let most = lastCurrent.map { boot - $0 } ?? .max
        guard let ended = countdown.endedUSec else { return most }
        // Instants of a daemon that gives nonsense do not overflow.
        let noticed = ended.addingReportingOverflow(event.lateUSec ?? 0)
        let age = wall.subtractingReportingOverflow(noticed.partialValue)
        return noticed.overflow || age.overflow ? most : min(max(0, age.partialValue), most)
    }
}
