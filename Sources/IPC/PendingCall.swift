import System
package import Varlink

/// A call that was sent on a connection of its own, and whose one reply an event loop awaits.
package struct PendingCall<Value>: ~Copyable {
    private var client: Client
    private let receive: (inout Client) throws(ClientError) -> Value?

    /// Connects to the daemon with the socket at `path`, and makes the call.
    ///
    /// - Parameters:
    ///   - method: the call.
    ///   - path: the path of the socket.
    ///   - timeout: how long connecting and sending wait for the daemon; nil waits forever.
    ///   - value: takes the value out of the reply.
    /// - Throws: if there is no daemon.
    package init<M: Method>(
        _ method: M,
        at path: String,
        timeout: Duration? = nil,
        value: @escaping (M.Reply) -> Value
    ) throws(ClientError) {
        var client = try Client(at: path, timeout: timeout)
        try client.start(method)
        self.client = client
        receive = { (client) throws(ClientError) in
            try client.nextReply(to: M.self, until: .passed).map { value($0.reply) }
        }
    }

    /// Readable if the reply may be there.
    package var descriptor: Int32 { client.descriptor }

    /// The value of the reply, or why there is none; nil if no reply has arrived. Then it is asked again, otherwise not.
    package mutating func result() -> Result<Value, ClientError>? {
        do throws(ClientError) {
            return try receive(&client).map(Result.success)
        } catch {
            return .failure(error)
        }
    }
}

extension PendingCall<Countdown> {
    /// Makes the call of a request.
    package init(_ request: CountdownRequest, at path: String, timeout: Duration) throws(ClientError) {
        func sent<M: CountdownMethod>(_ method: M) throws(ClientError) -> Self {
            try Self(method, at: path, timeout: timeout) { M.countdown(of: $0) }
        }
        self = try sent(request.method)
    }
}
