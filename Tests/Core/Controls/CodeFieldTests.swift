import CountdownControls
import Testing

@Suite("The field for a code")
struct CodeFieldTests {
    private func typed(_ text: String, length: Int = 4, _ alphabet: CodeField.Alphabet = .digits) -> CodeField {
        var input = CodeField(length: length, alphabet: alphabet)
        for character in text { input.type(character) }
        return input
    }

    private func pasted(_ text: String, length: Int = 4, _ alphabet: CodeField.Alphabet = .digits) -> String {
        var input = CodeField(length: length, alphabet: alphabet)
        input.paste(text)
        return String(input.characters)
    }

    @Test("characters that do not belong to a code are skipped, and digits of any script count as digits")
    func admits() {
        #expect(String(typed("1a -2").characters) == "12")
        #expect(typed("１２３４").code == "1234")
        #expect(typed("٣۴५6").code == "3456")
        #expect(String(typed("²½①Ⅳ").characters) == "")
        #expect(typed("aＢ1ｚ", .alphanumeric).code == "aB1z")
        #expect(String(typed("äß茶é_", .alphanumeric).characters) == "")
    }

    @Test("typing past the end is cut and keeps the code", arguments: 1...32)
    func cuts(length: Int) {
        let digits = String((0..<length).map { Character("\($0 % 10)") })
        let input = typed(digits + "9999", length: length)
        #expect(input.code == digits)
        #expect(input.cursor == nil)
        let short = typed(String(digits.dropLast()), length: length)
        #expect(short.code == nil)
        #expect(short.cursor == length - 1)
    }

    @Test("a paste that is longer than the code keeps its last characters that fit")
    func pastesLong() {
        #expect(pasted("123456") == "3456")
        #expect(pasted("12-34-56") == "3456")
        #expect(pasted("１２３４５６７") == "4567")
        #expect(pasted("x12y34z5") == "2345")
        #expect(pasted("123 456", length: 6) == "123456")
    }

    @Test("one run of as many digits as the code has wins over the last ones")
    func pastesMessages() {
        #expect(pasted("code 1234, valid 5 min") == "1234")
        #expect(pasted("Your code: 123456. Call 110 for help", length: 6) == "123456")
        #expect(pasted("1234 again: 1234, valid 15 min") == "1234")
        #expect(pasted("1234 or 5678, valid 5 min") == "6785")
        #expect(pasted("call 86138, code A1B2, valid 5 min", .alphanumeric) == "A1B2")
        #expect(pasted("验证码1234，5分钟内有效") == "1234")
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

    @Test("a paste of a whole code replaces the typed characters")
    func pastesOver() {
        var input = typed("12")
        input.paste("code 5678")
        #expect(input.code == "5678")
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

    @Test("the cursor moves among the typed characters and to the first empty box, no further")
    func moves() {
        var input = typed("12")
        input.move(by: 1)
        #expect(input.cursor == 2)
        input.move(by: -9)
        #expect(input.cursor == 0)
        input.type("7")
        #expect(String(input.characters) == "72" && input.cursor == 1)
    }

    @Test("a full code has no cursor until it goes back to mend")
    func mends() {
        var input = typed("1234")
        #expect(input.cursor == nil)
        input.move(by: -1)
        #expect(input.cursor == 3)
        input.type("9")
        #expect(input.code == "1239" && input.cursor == nil)
    }

    @Test("a full code is handed over by the event that fills it")
    func handsOver() {
        var field = CodeField(length: 3)
        #expect(field.type("1") == nil)
        #expect(field.type("x") == nil)
        #expect(field.paste("2") == nil)
        #expect(field.type("3") == "123")
        field.deleteBackward()
        #expect(field.paste("789") == "789")
    }

    @Test("the number of boxes and the spacing change at any time, which clears the field")
    func changes() {
        var field = typed("1234")
        field.length = 6
        #expect(field.characters.isEmpty && field.cursor == 0 && field.code == nil)
        #expect(field.paste("123456") == "123456")
        field.spacing = 5
        #expect(field.characters.isEmpty && field.length == 6 && field.spacing == 5)
        field.length = 0
        #expect(field.length == 1)
        #expect(field.type("7") == "7")
    }
}
