/// A test of one input. No input may trap, which both libFuzzer and the replaying test notice.
public protocol Harness {
    static func check(_ input: inout Input)
}

extension Harness {
    /// Checks the bytes of one input.
    public static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        var input = Input(bytes: Array(bytes))
        check(&input)
    }
}

/// Ends the process if the condition does not hold.
func expect(_ isSo: Bool, _ what: @autoclosure () -> String) {
    guard !isSo else { return }
    fatalError("it is not so that \(what())")
}
