import IPC
import System
import Varlink

/// The lines of a feed.
struct FeedLine {
    /// How many countdowns a tooltip names.
    private static let tooltipLimit = 20

    let format: FeedFormat
    let thresholds: FeedClass.Thresholds

    /// What stands before the first line.
    var preamble: String? {
        // The array of i3bar's protocol has no end.
        format == .i3bar ? "{\"version\":1}\n[\n" : nil
    }

    /// The line for countdowns of which the first is shown before the others; without any, what a bar shows as nothing.
    func render(_ countdowns: [Countdown], clock: ClockText) -> String {
        switch format {
        case .json: json { $0.member("countdowns", countdowns) }
        case .waybar: waybar(countdowns, clock)
        case .i3bar: i3bar(countdowns)
        case .template(let template): countdowns.first.map { template.render($0, clock: clock, for: .bar) } ?? ""
        }
    }

    private func waybar(_ countdowns: [Countdown], _ clock: ClockText) -> String {
        let name = FeedClass(countdowns.first, thresholds).rawValue
        return json { writer in
            writer.member("text", PangoText.escape(countdowns.first.map(text) ?? ""))
            writer.member("alt", name)
            writer.member("tooltip", PangoText.escape(tooltip(countdowns, clock)))
            writer.member("class", name)
            writer.member("percentage", countdowns.first?.percentGone ?? 0)
        }
    }

    private func i3bar(_ countdowns: [Countdown]) -> String {
        guard let first = countdowns.first else { return "[]," }
        let state = FeedClass(first, thresholds)
        let others = countdowns.count > 1 ? " (+\(countdowns.count - 1))" : ""
        let block = json { writer in
            writer.member("name", "countdown")
            writer.member("instance", first.key)
            writer.member("full_text", PangoText.escape(text(first) + others))
            writer.member("short_text", RemainingText.render(first.remainingUSec))
            writer.member("markup", "pango")
            if let color = state.color { writer.member("color", color) }
            writer.member("urgent", state == .urgent || state == .finished)
        }
        return "[\(block)],"
    }

    private func text(_ countdown: Countdown) -> String {
        "\(PrintableText.escape(countdown.title)) \(RemainingText.render(countdown.remainingUSec))"
    }

    private func tooltip(_ countdowns: [Countdown], _ clock: ClockText) -> String {
        let text = CountdownText(clock)
        var lines = countdowns.prefix(Self.tooltipLimit).map { "\(CountdownText.name($0)): \(text.state($0))" }
        if countdowns.count > lines.count { lines.append("and \(countdowns.count - lines.count) more") }
        return lines.joined(separator: "\n")
    }

    private func json(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(body)
        return String(decoding: JSONText.escapingUnprintable(writer.bytes), as: UTF8.self)
    }
}

extension FeedClass {
    /// The colour in which i3bar shows it; nil for that of the bar.
    fileprivate var color: String? {
        switch self {
        case .soon: "#e5c07b"
        case .urgent, .finished: "#e06c75"
        case .paused: "#abb2bf"
        case .running, .idle: nil
        }
    }
}
