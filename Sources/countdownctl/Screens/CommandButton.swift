import CountdownControls
import IPC
import System
import Text

/// A button that runs a command. Its owner does its actions, and reports their results.
struct CommandButton {
    /// The command of a press; nil if a press only starts the countdown.
    let command: ShellCommand?
    private(set) var control: KeyedButton

    init(_ titles: CountdownButton.Titles, command: ShellCommand?, start: Start) {
        self.command = command
        control = KeyedButton(titles, start: start, acts: command != nil) { CommandFailure($0).sentence }
    }

    /// Takes a press; nothing comes of it unless the button is enabled.
    mutating func press() -> [ScreenAction] { actions(control.press()) }

    mutating func count(to now: Duration) { control.now = now }

    mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        switch event {
        case .told(let event): control.take(.events([event]))
        case .notice(let notice, _): control.take(notice)
        case .answered(let answer, let now): return actions(control.answer(answer, at: now), at: now)
        case .ended(let ending, let now):
            let lines = ending.isSuccess ? ending.lines : ending.lines.dropLast()
            let failure = ending.isSuccess ? nil : ending.message(of: command?.name ?? "")
            return [.print(lines)] + actions(control.end(failure, at: now))
        case .woken(let now): return actions(control.wake(at: now))
        case .key, .paste, .click, .focus: break
        }
        return []
    }

    private mutating func actions(_ steps: [HeldAct.Step], at now: Int64 = 0) -> [ScreenAction] {
        steps.flatMap { step -> [ScreenAction] in
            switch step {
            case .call(let request): [.call(request)]
            case .wake(let instant): [.wake(at: instant)]
            case .act: if let command { [.run(command)] } else { actions(control.end(nil, at: now)) }
            case .refused, .done: []
            }
        }
    }
}

extension CommandEnding {
    /// The message for a failed command: its last line of output, or how it ended.
    func message(of name: String) -> String {
        switch cause {
        case .notRun(let errno): "cannot run \(quoted(name)): \(systemMessage(errno))"
        case .ended(let ending): lines.last ?? "\(quoted(name)) \(ending.failure ?? "")"
        }
    }
}
