import CLinux
import Glibc
import IPC

/// The program as it runs: takes what comes from the daemon and the bus, and makes the calls that follow from it.
final class Notifier {
    /// A second, in microseconds: progress is updated no more often.
    private static let tick: Int64 = 1_000_000
    /// So long is waited in the end for whoever shows notifications, in microseconds.
    private static let patience: Int64 = 2_000_000

    let path: String
    let record: Record
    private let signals: Int32
    let bus = BusLink()
    let endings: Subscription
    let progress: Subscription?
    let supervisor = Supervisor()
    var teller: Teller
    var errands: [Errand] = []
    /// When whoever shows notifications is tried again; nil where nothing failed.
    var retry: Client.Deadline?
    /// What keeps endings from being told.
    var obstacles = Obstacles()

    /// - Parameters:
    ///   - options: what was typed.
    ///   - path: where the daemon's socket is.
    ///   - record: what was told before.
    ///   - signals: a descriptor that is readable when the program is to end.
    init(_ options: Options, at path: String, record: Record, signals: Int32) {
        self.path = path
        self.record = record
        self.signals = signals
        var told: Told?
        do {
            told = try record.read()
        } catch {
            supervisor.log("\(error.sentence); what ended before now is not told")
        }
        teller = Teller(told: told)
        endings = Subscription(options.watch(tick: 0, since: told?.all), at: path)
        progress =
            options.showsProgress ? Subscription(options.watch(tick: Self.tick), at: path, resuming: false) : nil
    }

    /// Runs until it is told to end.
    ///
    /// - Throws: what keeps it from ever doing what it is for.
    func run() throws(Exit) {
        supervisor.becomeReady()
        while linux_next_signal(signals) == 0 {
            try attendDaemon()
            attendErrands()
            attendBus()
            // First, so that of what was told no more than one is told again, whenever this process is killed.
            writeRecord()
            sendCalls()
            supervisor.report(obstacles, of: teller)
            wait()
        }
        end()
    }

    private func wait() {
        var set = PollSet()
        set.add(signals)
        addBus(to: &set)
        for subscription in [endings, progress].compactMap(\.self) {
            if let descriptor = subscription.descriptor { set.add(descriptor) }
            if let deadline = subscription.deadline { set.add(deadline) }
        }
        for errand in errands { set.add(errand.descriptor) }
        if let retry { set.add(retry) }
        set.wait()
    }

    private func addBus(to set: inout PollSet) {
        if let (descriptor, events) = bus.readiness() { set.add(descriptor, for: events) }
        if let deadline = bus.deadline { set.add(deadline) }
    }

    /// Leaves nothing undone that is on its way, if that is answered soon.
    private func end() {
        supervisor.stop()
        teller.end()
        let deadline = Client.Deadline.after(microseconds: Self.patience)
        while teller.isAwaiting, deadline.remainingUSec > 0 {
            var set = PollSet()
            addBus(to: &set)
            set.add(deadline)
            set.wait()
            attendBus()
        }
        writeRecord()
        teller.hideProgress()
        sendCalls()
        bus.flush()
    }
}
