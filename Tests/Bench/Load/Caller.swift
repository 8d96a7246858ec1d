/// Makes the same calls for one key after the other.
struct Caller {
    private let calls: [LoadCall]
    private let dialect: any Dialect
    private let requests: [LoadRequest]
    private let first: Int
    private let keys: Int
    private var batch: [UInt8] = []

    init(_ options: LoadOptions) {
        let dialect = options.dialect
        calls = options.calls
        self.dialect = dialect
        requests = calls.map { call in LoadRequest { key, _ in dialect.request(call, key) } }
        first = options.number("first", 0)
        keys = options.number("keys", 100_000, atLeast: 1)
    }

    /// Sends the calls of these numbers.
    mutating func send(_ numbers: Range<Int>, on lane: Lane) {
        batch.removeAll(keepingCapacity: true)
        for number in numbers {
            requests[number % requests.count].append(to: &batch, key: key(number / requests.count))
        }
        lane.send(batch)
    }

    /// How many replies have been received.
    func takeReplies(of lane: Lane) -> Int { lane.takeReplies(to: calls, in: dialect) }

    /// The nth key: in order if it is started, scattered if not.
    private func key(_ number: Int) -> Int {
        guard !calls.contains(.start), !calls.contains(.startAll) else { return first + number }
        let scattered = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 >> 20
        return first + Int(truncatingIfNeeded: scattered % UInt64(keys))
    }
}

extension Lane {
    /// The number of complete replies to one of these calls; a refusal ends the program.
    func takeReplies(to calls: [LoadCall], in dialect: some Dialect) -> Int {
        var replies = 0
        receive { bytes in
            let taken = bytes.countReplies(to: calls, in: dialect)
            replies = taken.count
            return taken.bytes
        }
        return replies
    }
}
