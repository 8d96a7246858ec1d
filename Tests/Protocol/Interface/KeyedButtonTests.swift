import CountdownControls
import Foundation
import TestSupport
import Testing

@testable import IPC

/// The cases in Tests/Core/Controls/Cases, which the page of examples/web passes with its backend, too.
@Suite("A button that is bound to a key")
struct KeyedButtonTests {
    private struct Table: Decodable {
        let cases: [Case]
    }

    private struct Case: Decodable {
        let name: String
        let steps: [Step]
    }

    private struct Step: Decodable {
        let `do`: String
        let counts: Bool
        var fails: Bool?
        let acts: [String]
    }

    @Test("each case of the order of acts")
    func acts() throws {
        let file = BuiltProduct.packageDirectory.appendingPathComponent("Tests/Core/Controls/Cases/press.json")
        let cases = try JSONDecoder().decode(Table.self, from: Data(contentsOf: file)).cases
        #expect(cases.count > 5)
        for one in cases {
            var desk = Desk()
            for (number, step) in one.steps.enumerated() {
                let place: Comment = "\(one.name): step \(number + 1)"
                desk.acts = []
                desk.fails = step.fails ?? false
                try desk.take(step.do)
                #expect(desk.acts == step.acts, place)
                #expect(desk.counts == step.counts && desk.isEnabled != step.counts, place)
            }
        }
    }
}

/// The buttons of a key, and the daemon's countdown.
private struct Desk {
    var acts: [String] = []
    var fails = false
    private var buttons: [KeyedButton] = []
    private var countdown: Countdown?
    private var revision: Int64 = 0
    /// Whether reports of the daemon reach only the last button.
    private var isUnseen = false

    /// Of the first button.
    var counts: Bool { buttons[0].countdown != nil }
    var isEnabled: Bool { buttons[0].isEnabled }

    mutating func take(_ input: String) throws {
        switch input {
        case "open":
            buttons = []
            show()
        case "press": press(0)
        case "twice":
            let steps = buttons[0].press()
            press(0)
            carryOut(steps, of: 0)
        case "elsewhere", "elsewhere unseen":
            isUnseen = input != "elsewhere"
            show()
            press(1)
            isUnseen = false
        case "end": change(.finished) { $0.state = .finished }
        default: throw Unknown(input: input)
        }
    }

    private struct Unknown: Error {
        let input: String
    }

    private mutating func show() {
        let start = Start(key: "login", durationUSec: 60_000_000)
        var button = KeyedButton(.init(), start: start)
        let attached = countdown.map { [Event(type: .attached, key: $0.key, countdown: $0)] } ?? []
        button.take(.events(attached + [Event(type: .synced, revision: revision)]))
        buttons.append(button)
    }

    private mutating func press(_ number: Int) { carryOut(buttons[number].press(), of: number) }

    private mutating func carryOut(_ steps: [HeldAct.Step], of number: Int) {
        for step in steps {
            switch step {
            case .call(let request): carryOut(buttons[number].answer(answer(request), at: 0), of: number)
            case .act:
                acts.append("act")
                carryOut(buttons[number].end(fails ? "no network" : nil, at: 0), of: number)
            case .wake, .refused, .done: break
            }
        }
    }

    private mutating func answer(_ request: CountdownRequest) -> Result<Countdown, ClientError> {
        switch request {
        case .start(let start):
            if let countdown { return .failure(.countdown(.alreadyRunning(countdown, retryAfter: nil))) }
            acts.append("hold")
            countdown = Countdown(
                key: start.key,
                state: .running,
                clock: .elapsed,
                durationUSec: start.durationUSec ?? 0,
                remainingUSec: start.durationUSec ?? 0,
                startedUSec: revision,
                metadata: start.metadata,
                forget: false,
                revision: revision
            )
            return .success(change(.started) { _ in })
        case .cancel:
            acts.append("give back")
            return .success(change(.cancelled) { $0.state = .cancelled })
        case .get, .pause, .resume, .adjust: return .failure(.disconnected)
        }
    }

    /// Changes the countdown, and reports it to the buttons.
    @discardableResult
    private mutating func change(_ type: Event.Kind, _ body: (inout Countdown) -> Void) -> Countdown {
        guard var changed = countdown else { preconditionFailure("no countdown runs") }
        revision += 1
        changed.revision = revision
        body(&changed)
        countdown = changed.hasNotEnded ? changed : nil
        for place in isUnseen ? [buttons.count - 1] : Array(buttons.indices) {
            buttons[place].take(
                .events([Event(type: type, revision: revision, key: changed.key, countdown: changed)])
            )
        }
        return changed
    }
}
