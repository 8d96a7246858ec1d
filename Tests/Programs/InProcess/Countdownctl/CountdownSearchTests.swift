import IPC
import TestSupport
import Testing

@testable import countdownctl

@Suite("Changes to the countdown that a word stands for")
struct CountdownSearchTests {
    private let directory: TemporaryDirectory
    private let socket: ListeningSocket

    init() throws {
        directory = try TemporaryDirectory()
        socket = try ListeningSocket(path: directory.path(of: "socket"))
    }

    /// A change whose calls fail in turn with these errors; returns the keys and revisions that were tried.
    private func changes(
        of word: KeyWord,
        ifRevision revision: Int64? = nil,
        failing errors: [CountdownError]
    ) throws -> (tried: [String], failure: ClientError?) {
        var client = try Client(at: socket.path)
        var (tried, looked, failures) = ([String](), 0, errors[...])
        do throws(ClientError) {
            _ = try client.change(
                word,
                ifRevision: revision,
                found: { _, reference in
                    looked += 1
                    var found = countdown("\(reference.rawValue)-\(looked)", 60)
                    found.revision = Int64(looked)
                    return found
                },
                { _, key, revision throws(ClientError) in
                    tried.append("\(key) \(revision ?? 0)")
                    if let error = failures.popFirst() { throw .countdown(error) }
                    return countdown(key, 60)
                }
            )
            return (tried, nil)
        } catch {
            return (tried, error)
        }
    }

    @Test("the change is made only at the revision that was found; if it does not fit, the word is looked up once more")
    func looksUpTwice() throws {
        let (other, ended) = (countdown("a", 60), countdown("a", 0))
        #expect(try changes(of: .reference(.next), failing: []).tried == ["@next-1 1"])
        for error in [CountdownError.revisionMismatch(other), .wrongState(ended)] {
            let run = try changes(of: .reference(.next), failing: [error])
            #expect(run.tried == ["@next-1 1", "@next-2 2"] && run.failure == nil)
        }
        let twice = try changes(of: .reference(.last), failing: [.revisionMismatch(other), .revisionMismatch(other)])
        #expect(twice.tried == ["@last-1 1", "@last-2 2"])
        #expect(twice.failure == .countdown(.revisionMismatch(other)))
        let lost = try changes(of: .reference(.last), failing: [.storageFailed(reason: "full")])
        #expect(lost.tried.count == 1 && lost.failure != nil)
    }

    @Test("the change to a key is made once, at the revision that was typed")
    func takesKeys() throws {
        #expect(try changes(of: .key("tea"), ifRevision: 7, failing: []).tried == ["tea 7"])
        let run = try changes(of: .key("tea"), failing: [.revisionMismatch(countdown("tea", 60))])
        #expect(run.tried == ["tea 0"] && run.failure != nil)
    }
}
