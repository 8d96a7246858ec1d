/// What an input is tried on. What must not be is a trap, which both libFuzzer and the replaying test notice.
public protocol Harness {
    static func check(_ input: inout Input)
}

extension Harness {
    public static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        var input = Input(bytes: Array(bytes))
        check(&input)
    }
}

/// Ends the process where something is not as it has to be.
func expect(_ isSo: Bool, _ what: @autoclosure () -> String) {
    guard !isSo else { return }
    fatalError("it is not so that \(what())")
}
