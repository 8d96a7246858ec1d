import Glibc
import IPC
import System
import Testing
import Varlink

@testable import countdownctl

@Suite("Messages")
struct SentenceTests {
    private let text = CountdownText(ClockText(zone: TestZone.utc, now: noon))

    private func countdown(_ state: Countdown.State = .running, label: String? = nil) -> Countdown {
        ProgramTests.countdown("tea", state == .finished ? 0 : 252, state, label: label, revision: 5)
    }

    @Test("a countdown is named with its label, without control characters")
    func names() {
        #expect(CountdownText.name(countdown()) == "tea")
        #expect(CountdownText.name(countdown(label: "Green\u{1B}")) == "tea (Green\\u{1b})")
        #expect(CountdownText.name(countdown(label: "")) == "tea")
    }

    @Test("each state has its sentence")
    func states() {
        #expect(text.state(countdown()) == "running, 4:12 left, ends 12:04:12")
        #expect(text.state(countdown(.paused)) == "paused, 4:12 left")
        #expect(text.state(countdown(.finished)) == "finished at 12:00:00")
        #expect(text.state(countdown(.cancelled)) == "cancelled at 12:00:00, 4:12 left")
    }

    @Test("each event that matters to a person has a line")
    func events() {
        func line(
            _ type: Event.Kind,
            _ state: Countdown.State = .running,
            revision: Int64? = 5,
            late: Int64? = nil
        ) -> String? {
            text.line(
                Event(type: type, revision: revision, key: "tea", lateUSec: late, countdown: countdown(state))
            )
        }
        #expect(line(.attached) == "tea: running, 4:12 left, ends 12:04:12")
        #expect(line(.attached, .paused) == "tea: paused, 4:12 left")
        #expect(line(.started) == "tea: started, 4:12 left, ends 12:04:12")
        #expect(line(.restarted) == "tea: restarted, 4:12 left, ends 12:04:12")
        #expect(line(.adjusted) == "tea: adjusted, 4:12 left, ends 12:04:12")
        #expect(line(.adjusted, revision: nil) == "tea: the system clock was set, 4:12 left, ends 12:04:12")
        #expect(line(.paused, .paused) == "tea: paused, 4:12 left")
        #expect(line(.resumed) == "tea: resumed, 4:12 left, ends 12:04:12")
        #expect(line(.finished, .finished, late: 999_999) == "tea: finished at 12:00:00")
        #expect(line(.finished, .finished, late: 10_800_000_001) == "tea: finished at 12:00:00, delivered 3h late")
        #expect(line(.cancelled, .cancelled) == "tea: cancelled at 12:00:00, 4:12 left")
        #expect(text.line(Event(type: .tick, key: "te\na", remainingUSec: 61_000_000)) == "te\\na: 1:01 left")
        #expect(text.line(Event(type: .synced, revision: 5)) == nil)
        #expect(text.line(Event(type: .heartbeat, revision: 5)) == nil)
    }

    @Test(
        "an error of a call has its exit code",
        arguments: [
            (.unreachable(path: "/x", errno: ENOENT), .unavailable),
            (.unreachable(path: "/x", errno: ECONNREFUSED), .unavailable),
            (.unreachable(path: "/x", errno: EACCES), .denied),
            (.unreachable(path: "/x", errno: EAGAIN), .tryLater),
            (.unreachable(path: "/x", errno: EMFILE), .internalFault),
            (.disconnected, .unavailable), (.failed(errno: EIO), .unavailable),
            (.unknownError(name: "x.Y"), .protocolFault), (.protocolViolation(.unexpectedReply), .protocolFault),
            (.invalidReply(method: "x.Y", member: "z"), .protocolFault),
            (.service(.invalidParameter("key")), .usage), (.service(.permissionDenied), .denied),
            (.service(.methodNotFound("x.Y")), .protocolFault), (.service(.expectedMore), .protocolFault),
            (.countdown(.noSuchCountdown(key: "tea")), .unknownKey),
            (.countdown(.historyTrimmed(oldestRevision: 1)), .tryLater),
            (.countdown(.limitReached(limit: "countdowns", maximum: 1)), .tryLater),
            (.countdown(.limitReached(limit: "labelBytes", maximum: 1)), .usage),
            (.countdown(.limitReached(limit: "patterns", maximum: 1)), .usage),
            (.countdown(.storageFailed(reason: "disk full")), .notStored),
            (.countdown(.unreachable(reason: "no answer")), .unknownOutcome),
        ] as [(ClientError, ExitCode)]
    )
    func codes(_ error: ClientError, _ status: ExitCode) {
        #expect(CommandFailure(error).exitCode == status)
        #expect(!CommandFailure(error).sentence.isEmpty)
    }

    @Test("while the daemon cannot open its store, a question has no answer yet")
    func storeIsNotOpen() {
        let failure = CommandFailure(ClientError.countdown(.storageFailed(reason: "no disk")), isRead: true)
        #expect(failure == CommandFailure(.tryLater, "the daemon cannot open its store: no disk"))
    }

    @Test("refusals that carry a countdown have their codes as well")
    func codesOfRefusals() {
        #expect(CommandFailure(CountdownError.alreadyRunning(countdown(), retryAfter: nil)).exitCode == .tryLater)
        #expect(CommandFailure(CountdownError.revisionMismatch(countdown())).exitCode == .tryLater)
        #expect(CommandFailure(CountdownError.wrongState(countdown())).exitCode == .notRunning)
    }

    @Test("without a daemon, the error names the command that starts one, also one that a variable has elsewhere")
    func tellsHowToStart() {
        #expect(
            CommandFailure(ClientError.unreachable(path: "/run/x", errno: ENOENT)).sentence
                == "no daemon at /run/x: start it with `systemctl --user start countdownd.socket`"
        )
        let elsewhere = CommandFailure.remedy("/my run/x") { $0 == "COUNTDOWND_SOCKET" ? "/my run/x" : nil }
        #expect(elsewhere.contains("`countdownd --socket '/my run/x'`"))
        #expect(CommandFailure.remedy("/run/x") { _ in nil }.contains("systemctl --user start countdownd.socket"))
        let group = CommandFailure.remedy("/run/countdownd/mail/io.countdownd") { _ in
            "/run/countdownd/mail/io.countdownd"
        }
        #expect(
            group
                == " (from COUNTDOWND_SOCKET): start it with `systemctl start countdownd@mail.socket`, or in a fleet with"
                + " `systemctl start countdownd-shared@mail.socket`"
        )
    }

    @Test("without a directory for the socket, the error names the fault")
    func tellsOfDirectories() {
        let missing = AddressError.directory("/run/user/1000", origin: .user, uid: 1000, fault: .missing)
        #expect(
            CommandFailure(missing).sentence
                == "no session of UID 1000: `loginctl enable-linger`, or set COUNTDOWND_SOCKET to the path of a socket"
        )
        let foreign = AddressError.directory("/x", origin: .environment, uid: 1, fault: .foreignOwner(uid: 2))
        #expect(CommandFailure(foreign).sentence.hasPrefix("XDG_RUNTIME_DIR is /x, which belongs to UID 2; "))
        let open = AddressError.directory("/x", origin: .user, uid: 1, fault: .writableByOthers(mode: 0o777))
        #expect(CommandFailure(open).sentence.hasPrefix("/x can be written by others (mode 0777); "))
        for failure in [missing, foreign, open] { #expect(CommandFailure(failure).exitCode == .unavailable) }
    }

    @Test("of several codes the highest is the worst")
    func worst() {
        #expect([ExitCode.success, .unknownKey, .notRunning].max() == .unknownKey)
        #expect([ExitCode.notStored, .tryLater, .unknownKey].max() == .tryLater)
        #expect([ExitCode.unknownOutcome, .tryLater, .denied].max() == .unknownOutcome)
    }

    @Test("the user of a UID is found in lines of passwd(5)")
    func findsUsers() {
        let lines: [Substring] = ["root:x:0:0::/root:/bin/sh", "", "broken", "alice:x:1000:1000::/home/alice:/bin/sh"]
        #expect(Lingering.userName(uid: 1000, in: lines) == "alice")
        #expect(Lingering.userName(uid: 1001, in: lines) == nil)
    }

    @Test("a countdown is shown with all its fields, but without the tokens of programs")
    func shows() {
        var shown = countdown(label: "Green")
        shown.clock = .wall
        shown.metadata = ["b": "2\n", "a": "1", "run": "9ab62b18eee1a3cb", "undo": "1f"]
        shown.forget = true
        #expect(
            CountdownDetails(countdown: shown, clock: text.clock, palette: .plain).lines == [
                "tea (Green)",
                "    State: running",
                "Remaining: 4:12 of 5m, 16 % elapsed",
                "  Started: 11:59:12",
                "     Ends: 12:04:12 by the system clock",
                " Metadata: a=1",
                " Metadata: b=2\\n",
                "   Forget: yes, nothing is kept after its end",
                " Revision: 5",
            ]
        )
    }

    @Test("countdowns are listed by when they end, paused ones then, ended ones last")
    func lists() {
        var late = countdown()
        late.key = "late"
        late.deadlineUSec = noon + 400_000_000
        let all = [countdown(.finished), late, countdown(.paused), countdown()].sorted { $0.endsBefore($1) }
        #expect(
            CountdownTable.lines(all, clock: text.clock, legend: true, palette: .plain) == [
                "KEY   STATE     REMAINING  DURATION  END       LABEL",
                "tea   running        4:12        5m  12:04:12",
                "late  running        4:12        5m  12:06:40",
                "tea   paused         4:12        5m  -",
                "tea   finished       0:00        5m  12:00:00",
            ]
        )
    }

    @Test(
        "no number that a daemon answers ends the program",
        arguments: [.min, -1_772_000_000_000_000, -1, 0, 1, .max] as [Int64]
    )
    func rendersAnyNumber(_ number: Int64) {
        for state in Countdown.State.allCases {
            var countdown = ProgramTests.countdown("tea", 0, state, revision: number)
            (countdown.durationUSec, countdown.remainingUSec, countdown.startedUSec) = (number, number, number)
            (countdown.deadlineUSec, countdown.endedUSec) = (number, number)
            var event = Event(type: .finished, key: "tea", remainingUSec: number, countdown: countdown)
            event.lateUSec = number
            for now in [Int64.min, 0, .max] {
                let clock = ClockText(zone: LocalZone(), now: now)
                #expect(!CountdownDetails(countdown: countdown, clock: clock, palette: .plain).lines.isEmpty)
                let both = [countdown, countdown].sorted { $0.endsBefore($1) }
                #expect(!CountdownTable.lines(both, clock: clock, legend: true, palette: .plain).isEmpty)
                #expect(CountdownText(clock).line(event) != nil)
                let refusal = CountdownError.alreadyRunning(countdown, retryAfter: .microseconds(number))
                let failure = CommandFailure(refusal)
                #expect(StartRefusal(failure)?.sentence(of: nil).isEmpty == false)
                var board = FeedBoard()
                _ = board.apply(Event(type: .started, key: "tea", countdown: countdown))
                for instant in [0, 1] { board.board.count(to: .microseconds(instant)) }
                let line = FeedLine(format: .waybar, thresholds: FeedClass.Thresholds())
                #expect(!line.render(board.countdowns, clock: clock).isEmpty)
            }
        }
    }
}
