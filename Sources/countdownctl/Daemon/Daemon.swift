import IPC

/// The daemon that this user's commands are for.
struct Daemon: Sendable {
    let path: String

    /// The one that the environment names.
    init() throws(Failure) {
        do {
            path = try Address.forClient().path
        } catch {
            throw Failure(error)
        }
    }

    /// One at a path.
    init(path: String) { self.path = path }

    func connect() throws(Failure) -> Client {
        do {
            return try Client(connectingTo: path)
        } catch {
            throw Failure(error)
        }
    }

    /// Connects, makes one call and returns its answer.
    func call<M: Method>(_ method: M) throws(Failure) -> M.Reply {
        var client = try connect()
        do {
            return try client.call(method)
        } catch {
            throw Failure(error)
        }
    }
}
