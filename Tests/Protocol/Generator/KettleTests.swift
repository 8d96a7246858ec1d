import Foundation
import Glibc
import System
import TestSupport
import Testing
import Varlink

@Suite("The example of the page on generated types")
struct KettleTests {
    private static func text(of path: String) throws -> String {
        try String(contentsOfFile: BuiltProduct.packageDirectory.path + "/" + path, encoding: .utf8)
    }

    @Test("the page shows the definition and the program that are built here")
    func page() throws {
        let page = try Self.text(of: "docs/varlink.md")
        for file in ["Definitions/org.example.Kettle.varlink", "KettleProgram.swift"] {
            let text = try Self.text(of: "Tests/Protocol/Generator/\(file)")
            #expect(page.contains("\n\(text)```\n"), "\(file)")
        }
    }

    @Test("the client calls the service, and gets replies, the interface's errors and those of every service")
    func calls() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "kettle")
        let listener = try ListeningSocket(path: path)
        let descriptor = listener.descriptor
        Thread.detachNewThread {
            var service = KettleService()
            try? service.serve(StreamSocket(adopting: accept(descriptor, nil, nil)))
        }
        var client = try KettleClient(connectingTo: path)
        let heated = try client.call(Kettle.Heat(degrees: 80, note: "green tea"))
        #expect(heated.pot == Kettle.Pot(state: .heating, degrees: 80, note: "green tea"))
        #expect(try client.call(Kettle.SwitchOff()).pot.state == .off)
        #expect(throws: Kettle.Failure.tooHot(most: 100)) { _ = try client.call(Kettle.Heat(degrees: 200)) }
        #expect(throws: ServiceError.methodNotFound("org.example.Kettle.Sing")) { _ = try client.call(Sing()) }
    }
}

/// A method that the kettle does not have.
private struct Sing: Method {
    typealias Reply = Kettle.Heat.Reply

    static var interface: String { Kettle.name }
    static let name = "Sing"

    init() {}
    init(from reader: inout JSONReader) { reader.skipMembers() }
    func encode(into writer: inout JSONWriter) {}
}
