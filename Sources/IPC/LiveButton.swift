public import CountdownControls
import System
import Varlink

extension AsyncClient {
    /// A button that is bound to a key.
    ///
    /// ```swift
    /// let button = countdowns.button("login/138", for: .seconds(60)) { try await sendCode() }
    /// for try await picture in button { draw(picture.title, isEnabled: picture.isEnabled) }
    /// ```
    ///
    /// A ``LiveButton/press()`` holds the key, so that only one of all buttons with the key acts, runs the action, and lets the key
    /// count from then on; if the action throws, the key is given back. A press while the button counts does nothing. A button
    /// that is shown again counts on with the countdown of its key.
    ///
    /// - Parameters:
    ///   - key: 1 to 255 bytes without control characters.
    ///   - duration: how long the key counts after the action.
    ///   - titles: the titles of the button.
    ///   - label: a text for people.
    ///   - action: the action of a press.
    /// - Returns: the button, which is live while its pictures are asked for.
    public func button(
        _ key: String,
        for duration: Duration,
        titles: CountdownButton.Titles = CountdownButton.Titles(),
        label: String? = nil,
        action: @escaping @Sendable () async throws -> Void
    ) -> LiveButton {
        let start = Start(
            key: key,
            durationUSec: duration.microseconds,
            label: label,
            metadata: CooldownMark.metadata
        )
        return LiveButton(self, KeyedButton(titles, start: start), action)
    }
}

/// A button that is bound to a key, and its connections: its pictures as a sequence, for one loop.
///
/// There is a picture at once, after each change, and when the title changes by itself. If the program is slow, it gets the newest.
/// Without a daemon the button cannot be pressed, and counts on. If the task is cancelled or the button released while the action
/// runs, the action still ends, and the key counts or is given back. The sequence throws the ``ClientError`` of a key that cannot be
/// watched.
public struct LiveButton: AsyncSequence, Sendable {
    fileprivate enum Input: Sendable {
        case pressed
        case watched(WatchEvent)
        case failed(ClientError)
        case answered(Result<Countdown, ClientError>)
        case ended(String?)
        case woken
        /// The title changes.
        case due
        case left
    }

    private let inputs: AsyncStream<Input>.Continuation
    private let pictures: AsyncThrowingStream<KeyedButton, any Error>

    fileprivate init(
        _ client: AsyncClient,
        _ button: KeyedButton,
        _ action: @escaping @Sendable () async throws -> Void
    ) {
        let (inputs, deliver) = AsyncStream.makeStream(of: Input.self)
        self.inputs = deliver
        let (pictures, picture) = AsyncThrowingStream.makeStream(
            of: KeyedButton.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        self.pictures = pictures
        picture.onTermination = { _ in deliver.yield(.left) }
        let run = ButtonRun(client: client, button: button, action: action, deliver: deliver)
        Task {
            var run = run
            do {
                try await run.run(inputs) { picture.yield($0) }
                picture.finish()
            } catch {
                picture.finish(throwing: error)
            }
        }
    }

    /// Takes a press; nothing comes of it unless the button is enabled.
    public func press() { inputs.yield(.pressed) }

    /// The pictures.
    public func makeAsyncIterator() -> AsyncThrowingStream<KeyedButton, any Error>.Iterator {
        pictures.makeAsyncIterator()
    }
}

/// Carries out the steps of a button.
private struct ButtonRun: Sendable {
    let client: AsyncClient
    var button: KeyedButton
    let action: @Sendable () async throws -> Void
    let deliver: AsyncStream<LiveButton.Input>.Continuation
    var wakeUp: Task<Void, Never>?
    var titleChange: Task<Void, Never>?

    mutating func run(_ inputs: AsyncStream<LiveButton.Input>, draw: (KeyedButton) -> Void) async throws(ClientError) {
        let watch = Task { [client, deliver, key = button.start.key] in
            do throws(ClientError) {
                for try await event in client.events(Watch(tick: .zero, keys: [key])) {
                    deliver.yield(.watched(WatchEvent(event)))
                }
            } catch {
                deliver.yield(.failed(error))
            }
        }
        defer { for task in [watch, wakeUp, titleChange] { task?.cancel() } }
        var hasLeft = false
        draw(button)
        for await input in inputs {
            button.now = .microseconds(BootClock.now)
            if case .left = input { hasLeft = true }
            for step in try take(input) { perform(step) }
            if hasLeft, !button.isBusy { return }
            draw(button)
            titleChange?.cancel()
            titleChange = button.nextChange.map { later($0, .due) }
        }
    }

    private mutating func take(_ input: LiveButton.Input) throws(ClientError) -> [HeldAct.Step] {
        switch input {
        case .pressed: return button.press()
        case .watched(let event): button.take(event)
        case .failed(let error): throw error
        case .answered(let answer): return button.answer(answer, at: BootClock.now)
        case .ended(let failure): return button.end(failure, at: BootClock.now)
        case .woken: return button.wake(at: BootClock.now)
        case .due, .left: break
        }
        return []
    }

    private mutating func perform(_ step: HeldAct.Step) {
        switch step {
        case .call(let request):
            Task { [client, deliver] in deliver.yield(.answered(await client.result(of: request))) }
        case .act:
            Task { [action, deliver] in
                do {
                    try await action()
                    deliver.yield(.ended(nil))
                } catch {
                    deliver.yield(.ended("\(error)"))
                }
            }
        case .wake(let instant):
            wakeUp?.cancel()
            wakeUp = instant.map { later(.microseconds($0 - BootClock.now), .woken) }
        case .refused, .done: break
        }
    }

    private func later(_ pause: Duration, _ input: LiveButton.Input) -> Task<Void, Never> {
        Task { [deliver] in
            if (try? await Task.sleep(for: pause)) != nil { deliver.yield(input) }
        }
    }
}

extension WatchEvent {
    fileprivate init(_ element: AsyncClient.Events.Element) {
        self =
            switch element {
            case .event(let event): .events([event])
            case .disconnected(let error): .lost(error)
            case .historyTrimmed(let oldest): .historyTrimmed(oldestRevision: oldest)
            case .forgotten(let key): .forgotten([key])
            }
    }
}
