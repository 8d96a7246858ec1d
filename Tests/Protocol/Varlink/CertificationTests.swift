import TestSupport
import Testing

@Suite("org.varlink.certification")
struct CertificationTests {
    /// One implementation of both sides.
    enum Implementation: CustomTestStringConvertible {
        case ours
        case python

        var testDescription: String {
            switch self {
            case .ours: "the Varlink module"
            case .python: "the PyPI package varlink"
            }
        }

        /// Starts the service at a path, and waits until it listens.
        func serve(at path: String) throws -> RunningCommand {
            let service =
                switch self {
                case .ours: try RunningCommand(["serve", "unix:\(path)"], executable: Self.ours())
                case .python:
                    try RunningCommand(Self.module + ["--varlink=unix:\(path)"], executable: TestPython.path())
                }
            let line = try #require(try service.line())
            #expect(line.hasPrefix("Listening on"))
            return service
        }

        /// Runs the client against a service at a path.
        func call(at path: String) throws -> CommandRun {
            switch self {
            case .ours: try RunningCommand(["call", "unix:\(path)"], executable: Self.ours()).finish()
            case .python:
                try RunningCommand(Self.module + ["--client", "--varlink=unix:\(path)"], executable: TestPython.path())
                    .finish()
            }
        }

        private static let module = ["-u", "-m", "varlink.tests.test_certification"]

        private static func ours() throws -> String { try BuiltProduct.path(of: "varlink-certification") }
    }

    @Test(
        "a client passes the course of a service",
        arguments: [(Implementation.ours, Implementation.ours), (.python, .ours), (.ours, .python)]
            .prefix(TestPython.isAvailable ? 3 : 1)
    )
    func passes(client: Implementation, service: Implementation) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "socket")
        let running = try service.serve(at: path)
        defer { running.interrupt() }
        let run = try client.call(at: path)
        #expect(run.exitCode == 0, "\(run.standardError)")
        #expect(run.standardOutput.hasSuffix("Certification passed\n"))
    }

    @Test("our service refuses a client that it does not know, and a call that is not the one of its turn")
    func refuses() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "socket")
        let running = try Implementation.ours.serve(at: path)
        defer { running.interrupt() }
        let connection = try RawConnection(to: path)
        let stranger = #"{"method":"org.varlink.certification.Test01","parameters":{"client_id":"stranger"}}"#
        #expect(try connection.exchange(stranger) == #"{"error":"org.varlink.certification.ClientIdError"}"#)
        let start = try connection.exchange(#"{"method":"org.varlink.certification.Start"}"#)
        let client = try #require(start.split(separator: "\"").dropLast().last)
        let test02 =
            #"{"method":"org.varlink.certification.Test02","parameters":{"client_id":"\#(client)","bool":true}}"#
        let test01 = #"{"method":"org.varlink.certification.Test01","parameters":{"client_id":"\#(client)"}}"#
        let refusal = try connection.exchange(test02)
        #expect(refusal.hasPrefix(#"{"error":"org.varlink.certification.CertificationError","#))
        #expect(refusal.contains(#""wants":{"method":"org.varlink.certification.Test01""#))
        #expect(try connection.exchange(test01) == #"{"error":"org.varlink.certification.ClientIdError"}"#)
    }

    @Test("a Python that is missing fails with the way to get it")
    func missingPython() throws {
        let error = #expect(throws: TestPython.Missing.self) {
            try TestPython.path(environment: ["COUNTDOWND_TEST_PYTHON": "/nowhere/python3"])
        }
        #expect(error?.description.contains("/nowhere/python3 does not exist: run make acceptance") == true)
    }
}
