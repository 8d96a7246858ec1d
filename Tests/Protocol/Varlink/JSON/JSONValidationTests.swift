import Testing
import Varlink

@Suite("A JSON text")
struct JSONValidationTests {
    private func failure(_ text: String) -> JSONError? { syntaxError(Array(text.utf8)) }

    @Test(
        "texts that RFC 8259 allows are accepted",
        arguments: [
            "{}", " \t\r\n{ } \t\r\n", #"{"a":1}"#, #"{ "a" : [ 1 , 2 ] , "b" : { } }"#, #"{"":null}"#,
            #"{"a":true,"b":false,"c":null,"d":"","e":[],"f":{}}"#, #"{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"}"#,
            #"{"a":-0,"b":0.5,"c":1e5,"d":1E+5,"e":-1.25e-3,"f":0e0}"#, #"{"a":"é€😀\#u{7F}"}"#, #"{"a":[[[[]]]]}"#,
            #"{"a":123456789012345678901234567890}"#, #"{"a":1,"a":2}"#, #"{"a":"\u0000"}"#,
        ]
    )
    func accepts(text: String) {
        #expect(failure(text) == nil)
    }

    @Test(
        "a text that ends too early is reported at its end",
        arguments: [
            "", " ", "{", #"{""#, #"{"a"#, #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"{"a":["#, #"{"a":[1"#,
            #"{"a":"\"#,
            #"{"a":"\u12"#, #"{"a":-"#, #"{"a":1."#, #"{"a":1e"#, #"{"a":1e+"#, #"{"a":"b"#, #"{"a":tru"#,
        ]
    )
    func endsTooEarly(text: String) {
        #expect(failure(text) == JSONError(offset: text.utf8.count, reason: .unexpectedEnd))
    }

    @Test(
        "a byte that the grammar does not allow is reported with its offset",
        arguments: [
            (#"{a:1}"#, 1), (#"{'a':1}"#, 1), (#"{"a" 1}"#, 5), (#"{"a":1,}"#, 7), (#"{,"a":1}"#, 1),
            (#"{"a":[1,]}"#, 8),
            (#"{"a":[,1]}"#, 6), (#"{"a":1 "b":2}"#, 7), (#"{"a":[1 2]}"#, 8), (#"{"a":[1}"#, 7), (#"{"a":{]}"#, 6),
            (#"{"a":+1}"#, 5), (#"{"a":.5}"#, 5), (#"{"a":nul}"#, 8), (#"{"a":True}"#, 5), (#"{"a":NaN}"#, 5),
            (#"{"a":undefined}"#, 5), (#"{"a":1/**/}"#, 6), (#"{"a"::1}"#, 5), ("\u{FEFF}{}", 0), ("{\u{0B}}", 1),
            (#"{1:2}"#, 1), (#"{"a":1x}"#, 6), (#"{"a":0x10}"#, 6),
        ]
    )
    func unexpectedByte(text: String, offset: Int) {
        let byte = Array(text.utf8)[offset]
        #expect(failure(text) == JSONError(offset: offset, reason: .unexpectedByte(byte)))
    }

    @Test("an invalid number, bytes after the object, and a value other than an object are rejected")
    func reasons() {
        for number in ["01", "-01", "00", "1.e5", "1.x", "-x", "1ex", "1e+x"] {
            #expect(failure(#"{"a":\#(number)}"#)?.reason == .invalidNumber, "\(number)")
        }
        for text in ["{}{}", "{},", "{}x", #"{"a":1}]"#] { #expect(failure(text)?.reason == .trailingBytes, "\(text)") }
        for text in ["[]", "1", #""a""#, "true", "null", " [{}]"] {
            #expect(failure(text)?.reason == .notAnObject, "\(text)")
        }
    }

    @Test("an unescaped control character in a string is rejected", arguments: 0..<UInt8(0x20))
    func controlCharacters(byte: UInt8) {
        let text = Array(#"{"a":"bcdefghijk"#.utf8) + [byte] + Array(#""}"#.utf8)
        #expect(syntaxError(text) == JSONError(offset: 16, reason: .controlCharacter(byte)))
    }

    @Test(
        "an invalid escape is rejected",
        arguments: [#"\x41"#, #"\a"#, #"\'"#, #"\u12g4"#, #"\U0041"#, #"\0"#]
    )
    func escapes(escape: String) {
        #expect(failure(#"{"a":"\#(escape)"}"#) == JSONError(offset: 6, reason: .invalidEscape))
    }

    @Test(
        "half of a surrogate pair is rejected, in values and in names",
        arguments: [
            #"\uD800"#, #"\uDC00"#, #"\uDBFF\uDBFF"#, #"\uD800\u0041"#, #"\uD800\n1234"#, #"\uD800x12345"#,
            #"\uDFFF\uD800"#,
        ]
    )
    func surrogates(escape: String) {
        #expect(failure(#"{"a":"\#(escape)"}"#) == JSONError(offset: 6, reason: .loneSurrogate))
        #expect(failure(#"{"\#(escape)":1}"#) == JSONError(offset: 2, reason: .loneSurrogate))
    }

    @Test("64 levels of nesting are accepted, 65 are rejected", arguments: [("[", "]"), (#"{"a":"#, "}")])
    func nesting(opening: String, closing: String) {
        func nested(_ levels: Int) -> String {
            let inner = String(repeating: opening, count: levels - 1)
            let value = opening == "[" ? "" : "1"
            return #"{"a":"# + inner + value + String(repeating: closing, count: levels - 1) + "}"
        }
        #expect(failure(nested(64)) == nil)
        #expect(failure(nested(65))?.reason == .tooDeep(limit: 64))
    }

    @Test("endless nesting is rejected at the limit")
    func endlessNesting() {
        let text = Array(#"{"a":"#.utf8) + [UInt8](repeating: 0x5B, count: 100_000)
        #expect(syntaxError(text) == JSONError(offset: 5 + 63, reason: .tooDeep(limit: 64)))
    }
}
