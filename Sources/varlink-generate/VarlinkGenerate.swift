import Glibc
import System

/// `varlink-generate DEFINITION [OPTIONS]` writes the Swift file of a definition to standard output.
@main
enum VarlinkGenerate {
    private static let usage = """
        usage: varlink-generate DEFINITION [OPTIONS]

        Writes the Swift file of a Varlink interface definition to standard output. OPTIONS is a file; docs/varlink.md explains it.
        """

    static func main() {
        let files = Array(CommandLine.arguments.dropFirst())
        if ["-h", "--help"].contains(files.first) { return print(usage) }
        guard (1...2).contains(files.count), !files[0].hasPrefix("-") else { end(usage, 64) }
        do {
            let options = try files.dropFirst().first.map(text) ?? ""
            let optionsFile = files.dropFirst().first ?? ""
            let source = try SwiftFile.source(of: text(of: files[0]), files[0], options: options, optionsFile)
            print(source, terminator: "")
        } catch {
            end("\(error)", 65)
        }
    }

    private static func text(of path: String) throws(GeneratorFailure) -> String {
        do throws(SystemFailure) {
            return String(decoding: try StoredText.bytes(of: path), as: UTF8.self)
        } catch {
            throw GeneratorFailure("\(path): \(error)")
        }
    }

    private static func end(_ reason: String, _ status: Int32) -> Never {
        StandardError.shared.write(line: reason, noticePrefix: "")
        exit(status)
    }
}
