import ArgumentParser
import IPC
import System

/// The keys that a shell offers where one is typed: those that run or are paused, asked from the daemon.
enum KeyCompletion {
    /// More than anybody looks through.
    private static let limit: Int64 = 200
    /// How long somebody who pressed Tab is kept by a daemon that does not answer, in microseconds.
    private static let patience: Int64 = 5_000_000

    /// What ArgumentParser asks for the keys.
    static let kind = CompletionKind.custom { words, _, prefix in
        // Nobody who presses Tab wants to log in for it.
        words.contains(where: RemoteInvocation.isOption) ? [] : keys(beginningWith: prefix)
    }

    /// None where there is no daemon: a shell has no place for what is wrong.
    private static func keys(beginningWith prefix: String) -> [String] {
        let request = List(match: ["\(escaped(prefix))*"], soonest: limit)
        guard var client = try? Daemon().connect(), (try? client.start(streaming: request)) != nil else { return [] }
        let deadline = Client.Deadline.after(microseconds: patience)
        var keys: [String] = []
        while let page = try? client.nextReply(to: List.self, until: deadline) {
            keys += page.reply.countdowns.map(\.key)
            if !page.continues { break }
        }
        return keys.filter { $0.hasPrefix(prefix) && isHarmless($0) }
    }

    /// Whether no shell sees more in the key than a word: bash expands what it is offered.
    private static func isHarmless(_ key: String) -> Bool {
        let ascii = String(decoding: key.utf8.filter { $0 < 0x80 }, as: UTF8.self)
        return PrintableText.isPrintable(key) && (ascii.isEmpty || ShellWord.quote(ascii) == ascii)
    }

    /// The text as a pattern that matches it alone.
    private static func escaped(_ text: String) -> String {
        text.map { "*?[".contains($0) ? "[\($0)]" : String($0) }.joined()
    }
}
