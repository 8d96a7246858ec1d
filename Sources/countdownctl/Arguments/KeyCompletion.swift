import ArgumentParser
import IPC
import System
import Text

/// The keys that a shell completes: running and paused countdowns, as the daemon lists them.
enum KeyCompletion {
    /// More than anybody looks through.
    private static let limit: Int64 = 200
    /// The longest wait for a daemon that does not answer, in microseconds.
    private static let patience: Int64 = 5_000_000

    /// The completion of a key under which a countdown may be started.
    static let any = CompletionKind.custom { words, _, typed in offers(beginningWith: start(of: typed), behind: words) }

    /// The completion of a countdown's key: the words that stand for one come first.
    static let existing = CompletionKind.custom { words, _, typed in
        let prefix = start(of: typed)
        return CountdownReference.allCases.map(\.rawValue).filter { $0.hasPrefix(prefix) }
            + offers(beginningWith: prefix, behind: words)
    }

    /// The completion of the name of a change that will be undone.
    static let undo = CompletionKind.custom { words, _, typed in
        let isRemote = words.contains(where: RemoteInvocation.isOption)
        return isRemote ? [] : shown(UndoDirectory.present().map(\.record.name), beginningWith: start(of: typed))
    }

    private static func offers(beginningWith prefix: String, behind words: [String]) -> [String] {
        // Pressing Tab must not log in to another machine.
        words.contains(where: RemoteInvocation.isOption) ? [] : keys(beginningWith: prefix)
    }

    /// Empty if the daemon does not run: a shell cannot show an error here.
    private static func keys(beginningWith prefix: String) -> [String] {
        let request = List(match: ["\(escaped(prefix))*"], soonest: limit)
        guard var client = try? DaemonEndpoint().connect(), (try? client.start(request, more: true)) != nil else {
            return []
        }
        let deadline = MonotonicDeadline.after(microseconds: patience)
        var keys: [String] = []
        while let page = try? client.nextReply(to: List.self, until: deadline) {
            keys += page.reply.countdowns.map(\.key)
            if !page.continues { break }
        }
        return shown(keys, beginningWith: prefix)
    }

    /// The words as the shell takes completions: bash expands them, and zsh reads a colon as the beginning of a description.
    private static func shown(_ words: [String], beginningWith prefix: String) -> [String] {
        let offers = words.filter { $0.hasPrefix(prefix) && PrintableText.isPrintable($0) }
        return switch CompletionShell.requesting {
        case .bash: offers.map(ShellWord.quote)
        case .zsh: offers.map { $0.map { $0 == ":" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() }
        default: offers
        }
    }

    /// The beginning of a word, up to its first quote or backslash: zsh and fish give it as it was typed, and compare the rest.
    private static func start(of typed: String) -> String {
        guard CompletionShell.requesting != .bash else { return typed }
        return String(typed.drop { "'\"".contains($0) }.prefix { !"\\'\"".contains($0) })
    }

    /// The text as a pattern that matches it alone.
    private static func escaped(_ text: String) -> String {
        text.map { "*?[".contains($0) ? "[\($0)]" : String($0) }.joined()
    }
}
