import Varlink

extension Reply {
    /// What the reply says to a call of the method: its result, or the error thrown.
    func result<M: Method>(of method: M.Type) throws(ClientError) -> M.Reply {
        if let error { throw refusal(error, of: M.fullName) }
        do {
            return try M.Reply(decoding: parameters)
        } catch {
            throw .invalidReply(method: M.fullName, member: error.parameter)
        }
    }

    private func refusal(_ error: String, of method: String) -> ClientError {
        if let error = ServiceError(self) { return .service(error) }
        guard let name = CountdownError.Name(rawValue: error) else { return .unknownError(name: error) }
        do {
            return .countdown(try CountdownError(name, decoding: parameters))
        } catch {
            return .invalidReply(method: method, member: error.parameter)
        }
    }
}
