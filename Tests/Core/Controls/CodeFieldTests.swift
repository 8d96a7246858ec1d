import CountdownControls
import Testing

/// What the cases in Tests/Core/Controls/Cases do not have, because only the Swift field has it.
@Suite("The field for a code")
struct CodeFieldTests {
    private func typed(_ text: String, _ alphabet: CodeField.Alphabet = .digits) -> CodeField {
        var input = CodeField(length: 4, alphabet: alphabet)
        for character in text { input.type(character) }
        return input
    }

    @Test("a code may have letters")
    func letters() {
        #expect(typed("aＢ1ｚ", .alphanumeric).code == "aB1z")
        #expect(String(typed("äß茶é_", .alphanumeric).characters) == "")
        var input = typed("", .alphanumeric)
        #expect(input.paste("call 86138, code A1B2, valid 5 min") == "A1B2")
    }

    @Test("a shorter paste is as if it were typed, at the cursor")
    func pastesShort() {
        var input = typed("12")
        input.paste("3")
        #expect(String(input.characters) == "123")
        input.move(by: -3)
        input.paste("98")
        #expect(String(input.characters) == "983")
        input.paste("")
        #expect(input.cursor == 2)
        input.paste("777")
        #expect(input.code == "9877")
    }

    @Test("backspace deletes the character before the cursor, delete the one under it")
    func deletes() {
        var input = typed("1234")
        input.deleteForward()
        #expect(input.code == "1234")
        input.deleteBackward()
        #expect(String(input.characters) == "123" && input.cursor == 3)
        input.move(by: -2)
        input.deleteForward()
        #expect(String(input.characters) == "13" && input.cursor == 1)
        input.deleteBackward()
        input.deleteBackward()
        #expect(String(input.characters) == "3" && input.cursor == 0)
    }

    @Test("the cursor moves among the typed characters and to the first empty box; a full code has none until it moves")
    func moves() {
        var input = typed("12")
        input.move(by: 1)
        #expect(input.cursor == 2)
        input.move(by: -9)
        #expect(input.cursor == 0)
        input.type("7")
        #expect(String(input.characters) == "72" && input.cursor == 1)
        input = typed("1234")
        #expect(input.cursor == nil)
        input.move(by: -1)
        #expect(input.cursor == 3)
        input.type("9")
        #expect(input.code == "1239" && input.cursor == nil)
    }

    @Test("a field has at least one box, and the spacing that it is given")
    func changes() {
        var field = typed("1234")
        field.spacing = 5
        #expect(field.characters.isEmpty && field.length == 4 && field.spacing == 5)
        field.length = 0
        #expect(field.length == 1 && field.cursor == 0 && field.code == nil)
        #expect(field.type("7") == "7")
    }
}
