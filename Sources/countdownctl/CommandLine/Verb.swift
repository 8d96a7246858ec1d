import ArgumentParser

/// What can be asked of the program: a subcommand, which says how it went.
protocol Verb: ParsableCommand {
    /// Does it.
    ///
    /// - Throws: a `Failure`, or a `StreamFailure` of standard output.
    func perform() throws -> CommandStatus
}
