import CLinux
import Glibc
import Synchronization
import System

/// The executor of the daemon's actor: the one thread on which the epoll loop runs.
///
/// Other threads reach the loop through a pipe, so nothing is shared with them and nothing is locked. A word in the pipe is
/// a job for the actor, or 0 if the loop shall only wake up. No code of ours enqueues a job, since nothing awaits the
/// actor; the concurrency runtime may.
final class EventLoop: SerialExecutor {
    private let reader: Descriptor
    private let writer: Descriptor
    /// The thread that runs the loop, 0 before there is one.
    private let thread = Atomic<UInt>(0)

    /// Readable when there is something for `takeJobs`.
    var descriptor: Int32 { reader.number }

    init() throws(SystemFailure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemFailure("pipe") }
        reader = try Descriptor(owning: ends[0], of: "pipe")
        writer = try Descriptor(owning: ends[1], of: "pipe")
        // Reading never blocks; a thread that enqueues a job while the pipe is full waits for the loop.
        guard fcntl(reader.number, F_SETFL, O_NONBLOCK) == 0 else { throw SystemFailure("fcntl") }
    }

    /// Makes the calling thread the one on which the actor is entered, and lets its waits end on time.
    func adoptThread() {
        linux_wait_exactly()
        thread.store(pthread_self(), ordering: .sequentiallyConsistent)
    }

    func checkIsolated() {
        precondition(
            pthread_equal(pthread_self(), thread.load(ordering: .relaxed)) != 0,
            "the daemon is entered on the thread of its event loop only"
        )
    }

    /// Makes the descriptor readable. Any thread may call this.
    func wakeUp() { post(0) }

    func enqueue(_ job: consuming ExecutorJob) {
        post(unsafe unsafeBitCast(UnownedJob(job), to: UInt.self))
    }

    private func post(_ word: UInt) {
        var word = word
        while unsafe write(writer.number, &word, MemoryLayout<UInt>.size) < 0, errno == EINTR {}
    }

    /// Empties the pipe; returns the jobs that were in it, oldest first.
    func takeJobs() -> [UnownedJob] {
        var words = [UInt](repeating: 0, count: 16)
        var jobs: [UnownedJob] = []
        while true {
            // A word is never split: it is smaller than PIPE_BUF.
            let count = unsafe read(reader.number, &words, words.count * MemoryLayout<UInt>.size)
            guard count > 0 else { return jobs }
            for word in words.prefix(count / MemoryLayout<UInt>.size) where word != 0 {
                jobs.append(unsafe unsafeBitCast(word, to: UnownedJob.self))
            }
        }
    }

    /// Runs jobs on the calling thread, which must be the loop's.
    func run(_ jobs: [UnownedJob]) {
        for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}
