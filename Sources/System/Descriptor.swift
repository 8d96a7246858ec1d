import Glibc

/// A file descriptor with one owner, which closes it.
public struct Descriptor: ~Copyable, Sendable {
    /// The number to use in system calls.
    public let number: Int32

    /// Takes over what a call has just returned: a descriptor, or -1 if it failed and set errno, which is thrown.
    public init(owning number: Int32, of call: StaticString) throws(SystemFailure) {
        guard number >= 0 else { throw SystemFailure(call) }
        self.number = number
    }

    /// Takes over an open descriptor.
    init(adopting number: Int32) { self.number = number }

    deinit {
        close(number)
    }
}
