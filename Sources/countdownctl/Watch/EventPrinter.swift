import IPC

/// Shows the events of a watch.
protocol EventPrinter {
    func show(_ events: [Event]) throws(StreamFailure)

    /// Reports a change of the watch itself, with the message for a person if there is something new to say.
    func report(_ notice: WatchEvent, _ sentence: String?) throws(StreamFailure)

    /// Removes a drawn screen, before something else is printed or the program ends.
    func finish() throws(StreamFailure)
}

/// Prints a line or an object for each event that matters to the reader; none for a person who wants errors only.
struct LinePrinter: EventPrinter {
    let output: Output
    /// Whether only ends are printed, as JSON in the form of the countdowns that they were.
    var onlyEnds = false
    /// Which ticks are printed; nil for all, because the reader has asked for them.
    var pace: TickPace?

    func show(_ events: [Event]) throws(StreamFailure) {
        let text = CountdownText()
        var bytes: [UInt8] = []
        for event in events where !onlyEnds || event.type == .finished || event.type == .cancelled {
            if output.json {
                let json = onlyEnds ? event.countdown.map { JSONText.object($0) } : JSONText.object(event)
                if let json { bytes += json + [UInt8(ascii: "\n")] }
            } else if !output.isQuiet, pace?.prints(event) ?? true, let line = text.line(event) {
                bytes += Array("\(line)\n".utf8)
            }
        }
        try StandardStream.output.write(bytes)
    }

    func report(_ notice: WatchEvent, _ sentence: String?) { if let sentence { output.impatient.say(sentence) } }

    func finish() {}
}
