import Varlink

/// Where a verb puts what it has to say: data on standard output, messages on standard error.
struct Output {
    /// Whether what only informs is left out, data as well where they were not asked for as JSON.
    let isQuiet: Bool
    /// How the interface's objects are printed; nil where a person reads.
    let json: JSONStyle?
    let palette: Palette

    /// Tells what was done.
    func say(_ sentence: String) {
        if !isQuiet { warn(sentence) }
    }

    /// Tells what is wrong, be it wanted or not.
    func warn(_ sentence: String) {
        // Nobody could be told of it.
        try? StandardStream.error.write(Array("\(sentence)\n".utf8))
    }

    /// Prints lines of data.
    func print(_ lines: [String]) throws(StreamFailure) {
        guard !lines.isEmpty else { return }
        var bytes: [UInt8] = []
        for line in lines {
            bytes += line.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        try StandardStream.output.write(bytes)
    }

    /// Prints JSON text as lines of their own.
    func print(json text: [UInt8]) throws(StreamFailure) {
        try StandardStream.output.write(text + [UInt8(ascii: "\n")])
    }
}
