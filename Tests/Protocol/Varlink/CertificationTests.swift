import Glibc
import TestSupport
import Testing

@Suite("org.varlink.certification")
struct CertificationTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "socket")
    }

    /// Calls the body while our service serves.
    private func withService(_ body: () throws -> Void) throws {
        let listener = try ListeningSocket(path: path)
        CertificationService.serve(on: listener)
        defer { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }
        try body()
    }

    /// Starts one side of the PyPI package varlink.
    private func python(_ arguments: String...) throws -> RunningCommand {
        let module = ["-u", "-m", "varlink.tests.test_certification"]
        return try RunningCommand(module + arguments + ["--varlink=unix:\(path)"], executable: TestPython.path())
    }

    private func call() throws {
        var client = CertificationClient(on: try RawConnection(to: path))
        try client.run()
    }

    @Test("our client passes the course of our service")
    func passes() throws { try withService(call) }

    @Test("our sides pass the course with those of the PyPI package varlink", .enabled(if: TestPython.isAvailable))
    func passesWithPython() throws {
        try withService {
            let run = try python("--client").finish()
            #expect(run.exitCode == 0, "\(run.standardError)")
            #expect(run.standardOutput.hasSuffix("Certification passed\n"))
        }
        unsafe unlink(path)
        let service = try python()
        defer { service.interrupt() }
        #expect(try service.line()?.hasPrefix("Listening on") == true)
        try call()
    }

    @Test("our service refuses a client that it does not know, and a call that is not the one of its turn")
    func refuses() throws { try withService(checkRefusals) }

    private func checkRefusals() throws {
        let connection = try RawConnection(to: path)
        let stranger = #"{"method":"org.varlink.certification.Test01","parameters":{"client_id":"stranger"}}"#
        #expect(try connection.exchange(stranger) == #"{"error":"org.varlink.certification.ClientIdError"}"#)
        let start01 = #"{"method":"org.varlink.certification.Start"}"#
        let start = try connection.exchange(start01)
        let client = try #require(start.split(separator: "\"").dropLast().last)
        let test02 =
            #"{"method":"org.varlink.certification.Test02","parameters":{"client_id":"\#(client)","bool":true}}"#
        let test01 = #"{"method":"org.varlink.certification.Test01","parameters":{"client_id":"\#(client)"}}"#
        let refusal = try connection.exchange(test02)
        #expect(refusal.hasPrefix(#"{"error":"org.varlink.certification.CertificationError","#))
        #expect(refusal.contains(#""wants":{"method":"org.varlink.certification.Test01""#))
        #expect(try connection.exchange(test01) == #"{"error":"org.varlink.certification.ClientIdError"}"#)
        let half = #"{"method":"org.varlink.certification.Test01","parameters":{"client_id":"\ud83d"}}"#
        #expect(try connection.exchange(half).hasSuffix(#"InvalidParameter","parameters":{"parameter":"client_id"}}"#))
        #expect(try connection.exchange(start01).hasPrefix(#"{"parameters":{"client_id":"#))
    }

    @Test("a Python that is missing fails with the way to get it")
    func missingPython() throws {
        let error = #expect(throws: TestPython.Missing.self) {
            try TestPython.path(environment: ["COUNTDOWND_TEST_PYTHON": "/nowhere/python3"])
        }
        #expect(error?.description.contains("/nowhere/python3 does not exist: run make acceptance") == true)
    }
}
