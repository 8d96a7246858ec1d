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
    /// The name of the first parameter.
    private var parameter = ""

    /// Whether a message begins like this, and goes on.
    @inline(__always)
    func begins(_ message: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let end = range.lowerBound &+ bytes.count
        guard !bytes.isEmpty, end < range.upperBound else { return false }
        return unsafe message.extracting(range.lowerBound..<end).withUnsafeBytes { message in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let left = message.baseAddress, let right = bytes.baseAddress else { return false }
                return unsafe memcmp(left, right, bytes.count) == 0
            }
        }
    }

    /// Keeps the opening of a message that stands in this range and consists of a method and of parameters, in this order.
    mutating func keep(_ message: JSONObject, in range: Range<Int>, calling target: MethodTarget) {
        guard message.nodes[2].next > 3 else { return }
        let end = message.nodes[3].textRange.lowerBound
        guard end - range.lowerBound <= Self.longest else { return }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: message.bytes[range.lowerBound..<end])
        beginning = JSONBeginning(of: message.nodes, from: range.lowerBound, to: end)
        self.target = target
        parameter = message.name(of: 3)
    }

    /// Whether a method of this name is called, and its first parameter has that name.
    func asks(for method: String, by parameter: String) -> Bool {
        guard let target else { return false }
        return target.name == method && self.parameter == parameter && !target.isIntrospection
    }

    /// Where the string stands that follows this in a message and is all that does, but for what closes the message; nil
    /// where there is something else, or escapes or what is not ASCII are in the string.
    func textBehind(_ message: Span<UInt8>, _ range: Range<Int>) -> Range<Int>? {
        let start = range.lowerBound &+ bytes.count
        let end = range.upperBound &- 3
        guard start < end, message[start] == ASCII.quote, begins(message, range),
            message[end] == ASCII.quote, message[end &+ 1] == ASCII.closeBrace, message[end &+ 2] == ASCII.closeBrace,
            JSONString.skipPlain(message, in: start &+ 1..<end) == end
        else { return nil }
        return start &+ 1..<end
    }
}
