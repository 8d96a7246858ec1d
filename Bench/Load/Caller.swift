/// Makes the same call for one key after the other.
struct Caller {
    private let call: LoadCall
    private let dialect: any Dialect
    private let request: LoadRequest
    private let first: Int
    private let keys: Int
    private var batch: [UInt8] = []

    init(_ options: LoadOptions) {
        let (call, dialect) = (options.call, options.dialect)
        self.call = call
        self.dialect = dialect
        request = LoadRequest { key, _ in dialect.request(call, key) }
        first = options.number("first", 0)
        keys = options.number("keys", 100_000, atLeast: 1)
    }

    /// Sends the calls of these numbers.
    mutating func send(_ numbers: Range<Int>, on lane: Lane) {
        batch.removeAll(keepingCapacity: true)
        for number in numbers { request.append(to: &batch, key: key(number)) }
        lane.send(batch)
    }

    /// How many replies have been received.
    func takeReplies(of lane: Lane) -> Int { lane.takeReplies(to: call, in: dialect) }

    /// The key of the nth call: in order for starts, scattered for other calls.
    private func key(_ number: Int) -> Int {
        guard call != .start else { return first + number }
        let scattered = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 >> 20
        return first + Int(truncatingIfNeeded: scattered % UInt64(keys))
    }
}

extension Lane {
    /// The number of complete replies to a call; a refusal ends the program.
    func takeReplies(to call: LoadCall, in dialect: some Dialect) -> Int {
        var replies = 0
        receive { bytes in
            let taken = bytes.countReplies(to: call, in: dialect)
            replies = taken.count
            return taken.bytes
        }
        return replies
    }
}
