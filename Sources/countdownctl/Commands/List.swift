import ArgumentParser
import IPC
import System
import Text

struct ListCommand: Subcommand {
    static var name: CommandName { .list }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "List countdowns, the next to end first.",
        usage: """
            countdownctl list [-a | --state STATE]... [PATTERN]... [--sort ORDER]
                  [--format TEMPLATE] [options]
            """,
        discussion: """
            Examples:
              countdownctl list
              countdownctl list 'login/*'
              countdownctl list --state finished,cancelled
              countdownctl list --all --json
              countdownctl list --sort started --reverse
              countdownctl list --format '{key} {remaining}'

            Without --all or --state, running and paused countdowns are listed. In a
            pattern, * matches any characters, ? one character, [abc] one of these. Narrow
            terminals drop the least important columns. With --format, each countdown is a
            line with the fields of the template, as in show and watch.
            """
    )

    @Flag(name: .shortAndLong, help: "List ended countdowns, too.")
    var all = false

    @Option(
        help: ArgumentHelp("List one state: running, paused, finished or cancelled.", valueName: "state"),
        completion: .list(Countdown.State.allCases.map(\.rawValue))
    )
    var state: [String] = []

    @Option(help: ArgumentHelp("Sort by this.", valueName: "order"))
    var sort = ListOrder.end

    @Flag(name: .shortAndLong, help: "Reverse the order.")
    var reverse = false

    @Option(help: ArgumentHelp("Print this text with its fields filled in.", valueName: "template"))
    var format: String?

    @Flag(help: "Print no column headings.")
    var noLegend = false

    @OptionGroup var arguments: PatternArguments
    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let request = try request()
        let output = options.output
        let template = try format.map { text throws(CommandFailure) in try Template(withField: text) }
        guard template == nil || !output.json else {
            throw CommandFailure.usage("use either --json or --format")
        }
        let found = try DaemonEndpoint().ask { client throws(ClientError) in try client.list(request) }
        let sorted = found.sorted(by: sort.precedes)
        let countdowns = reverse ? sorted.reversed() : sorted
        if output.json {
            try output.print(json: JSONText.array(countdowns))
        } else if let template {
            try output.print(countdowns.map { template.render($0, clock: .local) })
        } else if countdowns.isEmpty {
            output.say(request.match == nil && request.keys == nil ? "no countdowns" : "no countdowns match")
        } else if !output.isQuiet {
            let lines = CountdownTable.lines(
                countdowns,
                clock: .local,
                legend: !noLegend,
                palette: output.palette,
                columns: StandardStream.output.size?.columns,
                glyphs: Glyphs(environment: Environment.value)
            )
            try output.print(lines)
        }
        return .success
    }

    func request() throws(CommandFailure) -> List {
        guard !all || state.isEmpty else { throw .usage("use either --all or --state") }
        let names = state.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        var states: [Countdown.State] = []
        for name in names {
            guard let state = Countdown.State(rawValue: name) else {
                throw .usage("invalid state \(quoted(name)): use running, paused, finished or cancelled")
            }
            states.append(state)
        }
        let selection = try KeySelection(arguments)
        return List(
            match: selection.match,
            states: all ? Countdown.State.allCases : states.isEmpty ? nil : states,
            keys: selection.named
        )
    }
}
