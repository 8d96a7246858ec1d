import ArgumentParser
import System

/// One run of the program, from what was typed to the code that it exits with.
struct Invocation {
    /// What was typed behind the name of the program.
    let arguments: [String]

    func run() -> CommandStatus {
        ignoreBrokenPipes()
        let typed = TypedArguments.normalize(arguments)
        do {
            if let remote = try RemoteInvocation(arguments) {
                // Help, and what cannot be meant, need no login.
                let isVerb = Self.verb(TypedArguments.normalize(remote.arguments)) != nil
                return isVerb ? try remote.run() : Invocation(arguments: remote.arguments).run()
            }
            if let verb = Self.verb(typed) { return try verb.perform() }
            let verbs = Countdownctl.configuration.subcommands.compactMap { $0.configuration.commandName }
            // Help of what is no verb would be that of all of them.
            let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
            if let mistaken = MistakenVerb(words, verbs: verbs + ["help"]) {
                return report(.usage(mistaken.sentence(verbs: verbs)))
            }
            var command = try Countdownctl.parseAsRoot(typed)
            if let verb = command as? any Verb { return try verb.perform() }
            try command.run()
            return .success
        } catch {
            return end(with: error)
        }
    }

    /// The verb that was typed, read by hand where that is enough, or else without the program as a whole around it: that
    /// is a tenth of the time that the program takes. Nil for help, and for what is wrong, of which the whole program has
    /// more to say.
    private static func verb(_ arguments: [String]) -> (any Verb)? {
        if let verb = PlainWords(arguments)?.verb { return verb }
        guard let name = arguments.first, let type = Countdownctl.verb(named: name) else { return nil }
        return try? type.parseAsRoot(Array(arguments.dropFirst())) as? any Verb
    }

    /// Says how it went, where a verb did not.
    func end(with error: any Error) -> CommandStatus {
        switch error {
        case let failure as Failure: report(failure)
        case let failure as StreamFailure: Failure(failure).map(report) ?? .success
        default: answer(error)
        }
    }

    /// What ArgumentParser has to say: help, which is data, or what was wrong with the arguments. Any other error is one
    /// that nobody thought of.
    private func answer(_ error: any Error) -> CommandStatus {
        switch Countdownctl.exitCode(for: error) {
        case .success:
            do {
                try StandardStream.output.write(Array("\(Countdownctl.fullMessage(for: error))\n".utf8))
                return .success
            } catch {
                return end(with: error)
            }
        case .validationFailure: return report(.usage(printable(Countdownctl.message(for: error))))
        default: return report(Failure(.internalFault, "\(error)"))
        }
    }

    /// A message of ArgumentParser, which repeats what was typed. Line breaks are its own if none was typed.
    private func printable(_ message: String) -> String {
        guard !arguments.contains(where: { $0.contains("\n") }) else { return PrintableText.escape(message) }
        return message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            PrintableText.escape(String(line))
        }.joined(separator: "\n")
    }

    private func report(_ failure: Failure) -> CommandStatus {
        var lines = ["countdownctl: \(failure.sentence)"]
        if failure.status == .usage, let word = arguments.first {
            if Countdownctl.verb(named: word) != nil {
                lines.append("`countdownctl \(word) --help` shows how it is typed")
            } else if word.hasPrefix("-") {
                lines.append("`countdownctl --help` shows how it is typed")
            }
        }
        // Nobody could be told of it.
        try? StandardStream.error.write(Array((lines.joined(separator: "\n") + "\n").utf8))
        return failure.status
    }
}
