import IPC
import Text
import Varlink

enum FeedFormat: Equatable {
    /// `{"countdowns":[…]}`, those that end first at the front.
    case json
    /// For a custom module of waybar(5) with `return-type: json`.
    case waybar
    /// The protocol of i3bar and swaybar.
    case i3bar
    /// The one that ends first, as the template has it.
    case template(Template)

    init(_ text: String) throws(CommandFailure) {
        switch text {
        case "json": self = .json
        case "waybar": self = .waybar
        case "i3bar": self = .i3bar
        default:
            let template = try Template(text)
            guard !template.isConstant else {
                throw .usage(
                    "invalid --format \(quoted(text)): use json, waybar, i3bar or a template with \(Template.places)"
                )
            }
            self = .template(template)
        }
    }
}

struct FeedLine {
    /// How many countdowns a tooltip names.
    private static let tooltipLimit = 20

    let format: FeedFormat
    let thresholds: FeedClass.Thresholds
    var shown = ShownCountdowns()

    var preamble: String? {
        // The array of i3bar's protocol has no end.
        format == .i3bar ? "{\"version\":1}\n[\n" : nil
    }

    /// The line for countdowns, in their order; without countdowns, a line that a bar shows as empty.
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
            writer.member("text", Markup.escape(countdowns.first.map(text) ?? ""))
            writer.member("alt", name)
            writer.member("tooltip", Markup.escape(tooltip(countdowns, clock)))
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
            writer.member("full_text", Markup.escape(text(first) + others))
            writer.member("short_text", RemainingFormat.render(first.remainingUSec))
            writer.member("markup", "pango")
            if let color = state.color { writer.member("color", color) }
            writer.member("urgent", state == .urgent || state == .finished)
        }
        return "[\(block)],"
    }

    private func text(_ countdown: Countdown) -> String {
        "\(PrintableText.escape(countdown.title)) \(RemainingFormat.render(countdown.remainingUSec))"
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
    /// The colour in i3bar; nil for the bar's own.
    fileprivate var color: String? {
        switch self {
        case .soon: "#e5c07b"
        case .urgent, .finished: "#e06c75"
        case .paused: "#abb2bf"
        case .running, .idle: nil
        }
    }
}
