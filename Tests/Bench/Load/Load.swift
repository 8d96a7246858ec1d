import Glibc

/// Puts the same load on countdownd or on Redis, and prints the measured values as one JSON object.
///
/// It has one thread. Requests are laid out before they are sent, and answers are searched only for the end of each
/// reply and for the expected text.
@main
struct Load {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let options = LoadOptions(CommandLine.arguments.dropFirst())
        switch options.measure {
        case "calls":
            var calls = Calls(options)
            calls.run()
        case "probe":
            var probe = Probe(options)
            probe.run()
        case "endings": Endings(options).run()
        case "fanout": Fanout(options).run()
        case "ticks": Ticks(options).run()
        case "burst":
            var burst = Burst(options)
            burst.run()
        case let other:
            fail("which measure? calls, probe, endings, fanout, ticks or burst, not \(other)")
        }
    }
}

/// Ends the program because the measurement would be useless.
func fail(_ sentence: String) -> Never {
    let line = Array("countdown-load: \(sentence)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(1)
}
