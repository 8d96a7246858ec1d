import Foundation
import TestSupport
import Testing

@testable import countdown_notify

@Suite("The translations")
struct TranslationTests {
    private static let folder = BuiltProduct.packageDirectory.appendingPathComponent("packaging/po")
    private static let languages = ["de", "zh_CN"]

    /// The entries of a template for translators, as the source has the texts.
    private static let entries: String = {
        func entry(_ text: String, _ lines: String) -> String {
            "\n" + (text.contains("%") ? "#, c-format\n" : "") + lines
        }
        let messages = Message.allCases.map { entry($0.rawValue, "msgid \"\($0.rawValue)\"\nmsgstr \"\"\n") }
        let counted = CountedMessage.allCases.map { message in
            let identifiers = "msgid \"\(message.rawValue)\"\nmsgid_plural \"\(message.plural)\"\n"
            return entry(message.rawValue, identifiers + "msgstr[0] \"\"\nmsgstr[1] \"\"\n")
        }
        return (messages + counted).joined()
    }()

    private func gettext(_ program: String, _ arguments: String...) throws -> CommandRun {
        try RunningCommand(arguments, executable: "/usr/bin/\(program)").finish()
    }

    @Test("the template has the texts of the source")
    func template() throws {
        let url = Self.folder.appendingPathComponent("countdownd.pot")
        let header = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n\n")[0]
        #expect(try String(contentsOf: url, encoding: .utf8) == header + "\n" + Self.entries)
    }

    @Test("there are the languages that the documents name")
    func files() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.sorted() == ["countdownd.pot"] + Self.languages.map { "\($0).po" })
    }

    @Test("a language has a translation of each text with the same values, and none is fuzzy", arguments: languages)
    func complete(_ language: String) throws {
        let path = Self.folder.appendingPathComponent("\(language).po").path
        let format = try gettext("msgfmt", "--check", "--output-file=/dev/null", path)
        #expect(format.exitCode == 0 && format.standardError.isEmpty, "\(format.standardError)")
        let template = Self.folder.appendingPathComponent("countdownd.pot").path
        let comparison = try gettext("msgcmp", path, template)
        #expect(comparison.exitCode == 0 && comparison.standardError.isEmpty, "\(comparison.standardError)")
        let obsolete = try gettext("msgattrib", "--only-obsolete", path)
        #expect(obsolete.standardOutput.isEmpty)
    }

    @Test("values take their places, in the order that a translation gives them")
    func fill() {
        #expect(Strings.fill("a %s b", ["x"]) == "a x b")
        #expect(Strings.fill("%2$s, %1$s", ["x", "y"]) == "y, x")
        #expect(Strings.fill("%d%", ["%s"]) == "%s%")
        #expect(Strings.fill("%s %s %3$s %0$s %x", ["x"]) == "x %s %3$s %0$s %x")
    }
}
