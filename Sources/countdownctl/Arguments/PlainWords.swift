import ArgumentParser

/// A verb that was typed plainly: with words behind it, and no option but `--quiet` and `--json`.
///
/// ArgumentParser asks the Swift runtime for the conformances of the type of each option, and each question that is new
/// goes through some 4,000 records: nine tenths of the instructions of a whole `countdownctl show tea`. So what is typed
/// most is read by hand. All else is left to ArgumentParser, and what it reads plain words as is what they mean: a test
/// compares the two.
struct PlainWords {
    let name: String
    /// What stands behind the verb, options apart.
    private(set) var words: [String] = []
    private(set) var quiet = false
    private(set) var json: JSONStyle?

    /// Reads what `ArgumentNormalizer` has put right; nil where there is more in it.
    init?(_ arguments: [String]) {
        guard let name = arguments.first else { return nil }
        self.name = name
        for argument in arguments.dropFirst() {
            switch argument {
            case "-q", "--quiet": quiet = true
            case "--json=short": json = .short
            case "--json=pretty": json = .pretty
            default:
                guard let first = argument.utf8.first, first != UInt8(ascii: "-") else { return nil }
                words.append(argument)
            }
        }
    }

    /// The verb with what stands behind it; nil where ArgumentParser has to read it, or to say what is wrong.
    var verb: (any Subcommand)? {
        switch name {
        case "adjust": AdjustCommand(plain: self)
        case "cancel": CancelCommand(plain: self)
        case "finish": FinishCommand(plain: self)
        case "is-running": IsRunningCommand(plain: self)
        case "list": ListCommand(plain: self)
        case "pause": PauseCommand(plain: self)
        case "resume": ResumeCommand(plain: self)
        case "show": ShowCommand(plain: self)
        case "start": StartCommand(plain: self)
        case "status": StatusCommand(plain: self)
        default: nil
        }
    }

    /// The word where there is one and no other.
    fileprivate var only: String? { words.count == 1 ? words[0] : nil }
}

// Each property is set: one that was forgotten would still be a definition of ArgumentParser, and end the program where it
// is read.

extension AdjustCommand {
    fileprivate init?(plain typed: PlainWords) {
        guard typed.words.count == 2 else { return nil }
        self.init()
        argument = KeyArgument(typed.words[0])
        amount = typed.words[1]
        by = nil
        until = nil
        condition = RevisionOption(nil)
        options = OutputOptions(typed)
    }
}

extension ChangeCommand {
    fileprivate init?(plain typed: PlainWords) {
        guard !typed.words.isEmpty else { return nil }
        self.init()
        arguments = KeyArguments(typed.words)
        condition = RevisionOption(nil)
        options = OutputOptions(typed)
    }
}

extension IsRunningCommand {
    fileprivate init?(plain typed: PlainWords) {
        guard let key = typed.only, typed.json == nil else { return nil }
        self.init()
        argument = KeyArgument(key)
        messages = MessageOptions(typed)
    }
}

extension ListCommand {
    fileprivate init?(plain typed: PlainWords) {
        self.init()
        all = false
        state = []
        sort = .end
        reverse = false
        noLegend = false
        patterns = typed.words
        options = OutputOptions(typed)
    }
}

extension ShowCommand {
    fileprivate init?(plain typed: PlainWords) {
        guard let key = typed.only else { return nil }
        self.init()
        argument = KeyArgument(key)
        format = nil
        options = OutputOptions(typed)
    }
}

extension StartCommand {
    fileprivate init?(plain typed: PlainWords) {
        self.init()
        words = typed.words
        key = nil
        length = nil
        until = nil
        choice = nil
        label = nil
        meta = []
        forget = false
        stay = nil
        options = OutputOptions(typed)
    }
}

extension StatusCommand {
    fileprivate init?(plain typed: PlainWords) {
        guard typed.words.count < 2 else { return nil }
        self.init()
        key = typed.words.first
        all = false
        options = OutputOptions(typed)
    }
}

extension KeyArgument {
    fileprivate init(_ key: String) {
        self.init()
        self.key = key
    }
}

extension KeyArguments {
    fileprivate init(_ keys: [String]) {
        self.init()
        self.keys = keys
    }
}

extension RevisionOption {
    fileprivate init(_ revision: Int64?) {
        self.init()
        ifRevision = revision
    }
}

extension OutputOptions {
    fileprivate init(_ typed: PlainWords) {
        self.init()
        json = typed.json
        color = .auto
        quiet = typed.quiet
        host = nil
    }
}

extension MessageOptions {
    fileprivate init(_ typed: PlainWords) {
        self.init()
        quiet = typed.quiet
        host = nil
    }
}
