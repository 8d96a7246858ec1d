import Text

/// A signal as kill(1) takes it: `TERM`, `SIGTERM` or `15`.
enum SignalName {
    /// The names of the signals from 1 on.
    private static let names = """
        HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG \
        XCPU XFSZ VTALRM PROF WINCH IO PWR SYS
        """.split(separator: " ")

    /// The number of a signal. Errors name the option.
    static func read(_ text: String, of option: String) throws(CommandFailure) -> Int32 {
        let name = text.uppercased()
        if let place = names.firstIndex(where: { $0 == name || "SIG\($0)" == name }) { return Int32(place + 1) }
        // 64 is the last real-time signal.
        guard let number = Int32(text), 1...64 ~= number else {
            let expected = "use the name or the number of a signal, such as TERM or 15"
            throw .usage("invalid \(option) \(quoted(text)): \(expected)")
        }
        return number
    }
}
