import Glibc

/// A file descriptor that is closed when it is given up.
struct Descriptor: ~Copyable {
    let number: Int32

    /// Takes over a descriptor that a call has just returned; fails with its errno where that is negative.
    init(owning number: Int32, of call: StaticString) throws(SystemFailure) {
        guard number >= 0 else { throw SystemFailure(call) }
        self.number = number
    }

    deinit {
        close(number)
    }
}

/// A system call that failed.
struct SystemFailure: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    /// The failure of a call that has just returned -1.
    init(_ call: StaticString, code: Int32 = errno) {
        self.call = "\(call)"
        self.code = code
    }

    var description: String { "\(call): \(Self.text(of: code))" }

    static func text(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
