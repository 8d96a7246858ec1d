import Varlink

extension ClientSession {
    /// Sends some of what is unsent.
    mutating func sendSome(over socket: borrowing StreamSocket) throws(Errno) {
        try withUnsent { bytes throws(Errno) in try socket.send(bytes) }
    }

    /// Receives bytes and takes them, as many at once as the buffer holds; how many, 0 where the peer sends no more.
    mutating func receiveSome(
        over socket: borrowing StreamSocket,
        through buffer: inout [UInt8]
    ) throws(Errno) -> Int {
        let count = try socket.receive(into: &buffer)
        receive(buffer.span.extracting(0..<count))
        return count
    }
}
