import Glibc

/// What calls began with, and what was found in it.
///
/// Whoever calls a method will call it again, and write `{"method":"io.countdownd.Get","parameters":{"key":` as before.
/// What was found in the same bytes holds for them once more: so they are compared in place of being read.
struct CallOpening {
    /// The most bytes that are kept.
    private static let longest = 128

    /// The bytes before the first parameter's value; none where nothing is kept.
    private var bytes: [UInt8] = []
    /// What was found in them, as if they stood at 0.
    private(set) var beginning = JSONBeginning()
    /// The method that they name.
    private(set) var target: MethodTarget?
    /// The bytes behind the first parameter's value in the last call; none where that began otherwise, or names the
    /// parameter twice.
    private var closing: [UInt8] = []
    /// Whether a call that differs from the last one in that value alone is answered at once.
    private(set) var isRepeatable = false

    /// Whether a message begins like this, and goes on.
    @inline(__always)
    func begins(_ message: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard !bytes.isEmpty, range.lowerBound &+ bytes.count < range.upperBound else { return false }
        return Self.stand(bytes, in: message, at: range.lowerBound)
    }

    /// Whether these bytes stand there.
    @inline(__always)
    private static func stand(_ bytes: [UInt8], in message: Span<UInt8>, at index: Int) -> Bool {
        unsafe message.extracting(index..<index &+ bytes.count).withUnsafeBytes { message in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let left = message.baseAddress, let right = bytes.baseAddress else { return false }
                return unsafe memcmp(left, right, bytes.count) == 0
            }
        }
    }

    /// Keeps the opening of a message that stands in this range and consists of a method and of parameters, in this order.
    mutating func keep(_ message: JSONObject, in range: Range<Int>, calling target: MethodTarget) {
        forgetClosing()
        guard message.nodes[2].next > 3 else { return }
        let end = message.nodes[3].textRange.lowerBound
        guard end - range.lowerBound <= Self.longest else { return }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: message.bytes[range.lowerBound..<end])
        beginning = JSONBeginning(of: message.nodes, from: range.lowerBound, to: end)
        self.target = target
        keepClosing(message, in: range)
    }

    // MARK: A call once more

    /// Keeps what stands behind the first parameter's value in a message that begins like this.
    mutating func keepClosing(_ message: JSONObject, in range: Range<Int>) {
        isRepeatable = false
        let start = message.nodes[3].textRange.upperBound
        let count = range.upperBound - start
        guard count != closing.count || !Self.stand(closing, in: message.bytes.span, at: start) else { return }
        closing.removeAll(keepingCapacity: true)
        guard count <= Self.longest, message.namesFirstParameterOnce else { return }
        closing.append(contentsOf: message.bytes[start..<range.upperBound])
    }

    /// Forgets it, as the last call was another one.
    mutating func forgetClosing() {
        closing.removeAll(keepingCapacity: true)
        isRepeatable = false
    }

    /// Lets the last call be repeated where its first parameter has this name.
    mutating func expectRepetitions(by parameter: StaticString) {
        let name = beginning.name
        let text = unsafe UnsafeBufferPointer(start: parameter.utf8Start, count: parameter.utf8CodeUnitCount)
        isRepeatable =
            !closing.isEmpty && !name.isEscaped
            && JSONString.equals(bytes.span, in: Int(name.start)..<Int(name.end), unsafe text.span)
    }

    /// Where the string stands in a message that is the last call but for it; nil where the message is another one, or the
    /// string has escapes or what is not ASCII in it.
    func repetition(_ message: Span<UInt8>, _ range: Range<Int>) -> Range<Int>? {
        let start = range.lowerBound &+ bytes.count
        let end = range.upperBound &- closing.count &- 1
        guard start < end, message[start] == ASCII.quote, message[end] == ASCII.quote,
            begins(message, range), Self.stand(closing, in: message, at: end &+ 1),
            JSONString.skipPlain(message, in: start &+ 1..<end) == end
        else { return nil }
        return start &+ 1..<end
    }
}
