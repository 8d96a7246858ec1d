import Glibc

/// Puts a load on countdownd or on Redis, the same on both, and prints what it measured as one JSON object.
///
/// It is one thread; what it sends is laid out before it is sent, and what comes back is searched for the end of each
/// reply, and for what was asked for, and no more. The echo of the floors answers what this program can ask at most.
@main
struct Load {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let options = Options(CommandLine.arguments.dropFirst())
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
        case "echo": Echo(options).run()
        case "timer": TimerFloor(options).run()
        case "append": AppendFloor(options).run()
        case let other:
            fail("which measure? calls, probe, endings, fanout, ticks, echo, timer or append, not \(other)")
        }
    }
}

/// Ends the program because the measurement would say nothing.
func fail(_ sentence: String) -> Never {
    let line = Array("countdown-load: \(sentence)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(1)
}
