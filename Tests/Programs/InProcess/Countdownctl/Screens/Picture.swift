import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@testable import countdownctl

/// A frame compared with a picture in Tests/Programs/Pictures.
func expect(
    _ lines: [StyledLine],
    toLookLike name: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let path = BuiltProduct.source("Tests/Programs/Pictures/\(name).txt")
    let picture = lines.map { String($0.text.reversed().drop { $0 == " " }.reversed()) + "\n" }.joined()
    if ProcessInfo.processInfo.environment["COUNTDOWND_PICTURES"] == "keep" {
        try picture.write(toFile: path, atomically: true, encoding: .utf8)
    }
    #expect(try picture == String(contentsOfFile: path, encoding: .utf8), sourceLocation: sourceLocation)
}

extension Canvas {
    /// Without colours, at noon of a day at UTC.
    static func plain(
        columns: Int = 79,
        rows: Int = 24,
        _ glyphs: Glyphs = .blocks,
        hasKeys: Bool = true
    ) -> Canvas {
        Canvas(
            columns: columns,
            rows: rows,
            glyphs: glyphs,
            palette: .plain,
            clock: ClockText(zone: TestZone.utc, now: noon),
            hasKeys: hasKeys
        )
    }
}

/// 2026-03-01 12:00:00 UTC, in microseconds since 1970.
let noon: Int64 = 1_772_366_400_000_000

/// A countdown with a remaining time and a duration, in seconds.
func countdown(
    _ key: String,
    _ left: Int64,
    of length: Int64 = 300,
    _ state: Countdown.State = .running,
    label: String? = nil,
    revision: Int64 = 1
) -> Countdown {
    Countdown(
        key: key,
        state: state,
        clock: .elapsed,
        durationUSec: length * 1_000_000,
        remainingUSec: left * 1_000_000,
        startedUSec: noon - (length - left) * 1_000_000,
        deadlineUSec: state == .running ? noon + left * 1_000_000 : nil,
        endedUSec: [.running, .paused].contains(state) ? nil : noon,
        label: label,
        revision: revision
    )
}

/// An event about a countdown.
func told(_ type: Event.Kind, _ countdown: Countdown) -> ScreenEvent {
    .told(
        Event(
            type: type,
            revision: countdown.revision,
            key: countdown.key,
            remainingUSec: countdown.remainingUSec,
            countdown: countdown
        )
    )
}

extension ScreenEvent {
    /// At an instant that does not matter.
    static func answered(_ answer: Result<Countdown, ClientError>) -> ScreenEvent { .answered(answer, at: 0) }

    /// At an instant that does not matter.
    static func ended(_ ending: CommandEnding) -> ScreenEvent { .ended(ending, at: 0) }
}

/// A tick with the remaining seconds.
func tick(_ key: String, _ left: Int64) -> ScreenEvent {
    .told(Event(type: .tick, key: key, remainingUSec: left * 1_000_000))
}

/// The end of the current state.
let synced = ScreenEvent.told(Event(type: .synced, revision: 1))

extension [ScreenAction] {
    /// The actions, without the random token of a start.
    var withoutToken: [ScreenAction] {
        map { action in
            guard case .call(.start(var start)) = action else { return action }
            start.metadata?["run"] = nil
            return .call(.start(start))
        }
    }
}
