import Foundation
import Glibc
import IPC
import TestSupport
import Testing
import Varlink

@Suite("A store that can be opened only later")
struct LateStoreTests {
    /// What keeps a daemon from opening a store.
    enum Obstacle: CaseIterable {
        case file, danglingLink, logFile, logLink, directory, pipe
    }

    private let directory: TemporaryDirectory
    /// The revision before the end of `tea`.
    private let since: Int64
    private let ended: Countdown
    private var state: String { directory.path(of: "state") }
    private var away: String { directory.path(of: "away") }
    private var link: String { directory.path(of: "disk") }

    /// A store with a kept end and a running countdown that a daemon has left.
    init() throws {
        directory = try TemporaryDirectory()
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        since = try caller.call(Start(key: "tea")).countdown.revision
        ended = try caller.call(Finish(key: "tea")).countdown
        _ = try caller.call(Start(key: "egg", durationUSec: .seconds(3_600)))
        try daemon.terminate()
    }

    /// Puts an obstacle in the way of the store.
    /// - Returns: removes it.
    private func put(_ obstacle: Obstacle) throws -> () -> Void {
        switch obstacle {
        case .file:
            unsafe rename(state, away)
            try directory.write("in its way", to: "state")
            return {
                unsafe unlink(state)
                unsafe rename(away, state)
            }
        case .danglingLink:
            unsafe rename(state, away)
            unsafe symlink(link, state)
            return { unsafe rename(away, link) }
        case .logFile, .logLink:
            let folder = "\(state)/log"
            unsafe rename(folder, away)
            if obstacle == .logLink { unsafe symlink(away, folder) } else { try directory.write("", to: "state/log") }
            return {
                unsafe unlink(folder)
                unsafe rename(away, folder)
            }
        case .directory, .pipe:
            let store = "\(state)/log/0000000001.log"
            unsafe rename(store, away)
            _ = obstacle == .pipe ? unsafe mkfifo(store, 0o600) : unsafe mkdir(store, 0o700)
            return {
                unsafe remove(store)
                unsafe rename(away, store)
            }
        }
    }

    private func isRefused<M: Method>(_ method: M, of caller: Caller) throws -> Bool {
        do {
            _ = try caller.call(method)
            return false
        } catch CountdownError.storageFailed(let reason) {
            #expect(!reason.isEmpty)
            return true
        }
    }

    private func awaitOpening(_ caller: Caller) throws {
        try waitUntil("the store to be opened") { try caller.call(GetStatus()).storageFailure == nil }
    }

    @Test(
        "until then, a call about countdowns has no answer but StorageFailed; later, nothing is missing",
        arguments: Obstacle.allCases
    )
    func opensLate(_ obstacle: Obstacle) throws {
        let remove = try put(obstacle)
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        let calls: [any Method] = [
            Start(key: "egg"), Cancel(key: "egg"), Finish(key: "egg"), Pause(key: "egg"), Resume(key: "egg"),
            Adjust(key: "egg", byUSec: 1), Get(key: "tea"), List(), Wait(key: "egg"),
        ]
        for call in calls { #expect(try isRefused(call, of: caller), "\(type(of: call).name)") }
        for watch in [Watch(tick: .zero), Watch(tick: .zero, since: since)] {
            let error = #expect(throws: CountdownError.self) { try Follower(of: daemon, watch).next() }
            #expect(error?.name == .storageFailed)
        }
        #expect(try caller.call(GetStatus()).storageFailure != nil)
        #expect(daemon.notifications.received.contains { $0.hasPrefix("STATUS=") && $0.contains("cannot be stored") })

        remove()
        try awaitOpening(caller)
        let missed = try Follower(of: daemon, Watch(tick: .zero, since: since)).events(through: .synced)
        #expect(missed.map(\.type) == [.finished, .attached, .synced])
        #expect(missed.first?.countdown == ended)
        #expect(try caller.call(Get(key: "tea")).countdown == ended)
        #expect(try caller.call(Start(key: "egg")).outcome == .attached)
    }

    @Test("commands that ask or start say so; watches wait, and a hook goes on at its file")
    func commands() throws {
        var daemon = try DaemonProcess(in: directory)
        let typist = Typist(daemon)
        let hook = "watch --tick 0 --on finished --exec true --cursor-file \(directory.path(of: "cursor"))"
        try directory.write("\(since)\n", to: "cursor")
        let watch = try typist.begin(hook)
        #expect(try watch.line()?.hasPrefix("tea: finished") == true)
        #expect(try watch.line()?.hasPrefix("egg: running") == true)
        try daemon.terminate()

        let remove = try put(.danglingLink)
        daemon = try DaemonProcess(in: directory)
        let reason = "the daemon cannot open its store: \(state)"
        for line in ["is-running egg", "show egg", "list", "start --attach egg", "start --wait egg"] {
            let run = try typist.type(line)
            #expect(run.exitCode == 75, "\(line)")
            #expect(run.message.hasPrefix("countdownctl: \(reason)"), "\(line)")
        }
        #expect(try typist.type("start egg").exitCode == 74)
        try directory.write("\(since)\n", to: "other")
        let waiting = try [
            "watch", "watch egg --json", "watch --format {key}", "wait egg", "attach egg",
            hook.replacing("/cursor", with: "/other"),
        ].map { line in (line, try typist.begin(line)) }
        try waitUntil("all commands wait") {
            try waiting.allSatisfy { try $0.1.standardError().hasSuffix("; waiting\n") }
        }
        #expect(try typist.type("wait egg --timeout 1us").exitCode == 124)
        #expect(try String(contentsOfFile: directory.path(of: "other"), encoding: .utf8) == "\(since)\n")

        remove()
        try awaitOpening(Caller(of: daemon))
        // The pauses between two attempts grow.
        try typist.awaitWatchers(7)
        _ = try Caller(of: daemon).call(Finish(key: "egg"))
        #expect(try watch.line()?.hasPrefix("egg: finished") == true)
        watch.interrupt()
        #expect(
            try watch.finish().messages == [
                "lost the connection to the daemon; reconnecting", "reconnected to the daemon",
            ]
        )
        for (line, command) in waiting {
            var text = ""
            while !text.contains("egg"), let more = try command.line() { text = more }
            #expect(text.contains("egg") || line == "wait egg", "\(line)")
            command.interrupt()
            let run = try command.finish()
            #expect(run.exitCode == 130 || run.exitCode == 0, "\(line)")
            #expect(run.messages.count == 2, "\(line): \(run.messages)")
            #expect(run.messages.first?.hasPrefix(reason) == true && run.messages.first?.hasSuffix("; waiting") == true)
            #expect(run.messages.last == "the daemon knows its countdowns now")
        }
    }

    @Test("the daemon waits for it if another daemon has it by then")
    func heldLate() throws {
        let remove = try put(.file)
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        remove()
        let lock = unsafe open("\(state)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        try waitUntil("another attempt") {
            try caller.call(GetStatus()).storageFailure?.contains("is held by another countdownd") == true
        }
        #expect(flock(lock, LOCK_UN) == 0)
        try awaitOpening(caller)
        #expect(try caller.call(Start(key: "egg")).outcome == .attached)
    }
}
