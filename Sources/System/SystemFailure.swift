public import Glibc

/// A system call that failed.
public struct SystemFailure: Error, Hashable, CustomStringConvertible {
    /// The name of the call, such as `connect`.
    public let call: String
    /// The error number, see errno(3).
    public let code: Int32

    /// The failure of a call that has just returned -1, or that returned this error number.
    public init(_ call: StaticString, code: Int32 = errno) {
        self.call = "\(call)"
        self.code = code
    }

    /// The call and what strerror(3) says: `connect: Connection refused`.
    public var description: String { "\(call): \(systemMessage(code))" }
}

/// What strerror(3) says about an error number, in the words of the C locale.
public func systemMessage(_ code: Int32) -> String {
    guard let message = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: message)
}

/// Makes a system call, again if a signal interrupted it.
func restarting(_ name: StaticString, _ call: () -> Int) throws(SystemFailure) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        guard errno == EINTR else { throw SystemFailure(name) }
    }
}
