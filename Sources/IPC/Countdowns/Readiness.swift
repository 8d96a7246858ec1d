import Dispatch
import Glibc

/// What a task waits for at a connected socket; it holds no thread meanwhile.
enum Readiness {
    /// There is something to receive, be it the end.
    case readable
    /// There is room to send.
    case writable

    /// One of our own: where a program blocks all threads of the common ones, nobody here waits for them.
    private static let queue = DispatchQueue(label: "io.countdownd.readiness")

    /// Waits until the socket is so. Where the task is cancelled it is shut down, which ends the wait; the descriptor has
    /// to stay open until then, and nobody looks at it any more after that.
    nonisolated(nonsending) func wait(of descriptor: Int32) async {
        let source = source(of: descriptor)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                source.setEventHandler { source.cancel() }
                // Not before this one is called has the descriptor been let go of.
                source.setCancelHandler { continuation.resume() }
                source.activate()
            }
        } onCancel: {
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    private func source(of descriptor: Int32) -> any DispatchSourceProtocol {
        switch self {
        case .readable: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
        case .writable: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: Self.queue)
        }
    }
}
