/// What a feed prints on each of its lines.
enum FeedFormat: Equatable {
    /// `{"countdowns":[…]}`, those that end first at the front.
    case json
    /// What a custom module of waybar(5) takes with `return-type: json`.
    case waybar
    /// The protocol of i3bar and swaybar.
    case i3bar
    /// The one that ends first, as the template has it.
    case template(Template)

    /// - Throws: what is wrong with the template, or that it is none.
    init(_ text: String) throws(Failure) {
        switch text {
        case "json": self = .json
        case "waybar": self = .waybar
        case "i3bar": self = .i3bar
        default:
            let template = try Template(text)
            guard !template.isConstant else {
                throw .usage(
                    "\(quoted(text)) is no format; there are json, waybar, i3bar, and templates with \(Template.places)"
                )
            }
            self = .template(template)
        }
    }
}
