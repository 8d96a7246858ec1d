import IPC

/// Shows the events of a watch.
protocol EventPrinter {
    /// Shows events, in their order.
    mutating func show(_ events: [Event]) throws(StreamFailure)

    /// Reports a change of the watch itself.
    mutating func report(_ notice: EventStream.Notice, _ output: Output) throws(StreamFailure)

    /// Removes a drawn screen, before something else is printed or the program ends.
    mutating func finish() throws(StreamFailure)
}

extension EventPrinter {
    func report(_ notice: EventStream.Notice, _ output: Output) throws(StreamFailure) {
        if let sentence = notice.sentence { output.say(sentence) }
    }

    func finish() throws(StreamFailure) {}
}

/// An object a line, or laid out.
struct JSONEventPrinter: EventPrinter {
    let style: JSONStyle

    func show(_ events: [Event]) throws(StreamFailure) {
        var text: [UInt8] = []
        for event in events { text += JSONText.object(event, style) + [UInt8(ascii: "\n")] }
        try StandardStream.output.write(text)
    }
}

/// A line for each event that matters to a person.
struct LineEventPrinter: EventPrinter {
    func show(_ events: [Event]) throws(StreamFailure) {
        let text = EventText()
        let lines = events.compactMap(text.line)
        guard !lines.isEmpty else { return }
        try StandardStream.output.write(Array(lines.map { $0 + "\n" }.joined().utf8))
    }
}

/// Nothing at all.
struct SilentEventPrinter: EventPrinter {
    func show(_ events: [Event]) {}
}

/// The ends alone, as the countdowns that they were.
struct EndPrinter: EventPrinter {
    let output: Output

    func show(_ events: [Event]) throws(StreamFailure) {
        for event in events where event.type == .finished || event.type == .cancelled {
            if let style = output.json {
                if let countdown = event.countdown { try output.print(json: JSONText.object(countdown, style)) }
            } else if !output.isQuiet, let line = EventText().line(event) {
                try output.print([line])
            }
        }
    }
}
