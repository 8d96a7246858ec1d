import Testing
import Varlink

@Suite("A number")
struct JSONNumberTests {
    @Test(
        "an integer of 64 bits is read exactly",
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854775807", Int64.max),
            ("-9223372036854775808", Int64.min), ("-1", -1),
        ]
    )
    func integers(text: String, value: Int64) throws {
        #expect(try member("a", of: #"{"a":\#(text)}"#) == value)
    }

    @Test(
        "a number with a fraction or an exponent, or beyond 64 bits, is not an integer",
        arguments: [
            "1.0", "1e3", "1E0", "-0.0", "0e0", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
            "100000000000000000000000000", #""1""#, "true", "[1]",
        ]
    )
    func noIntegers(text: String) throws {
        #expect(throws: InvalidParameter("a")) { try member("a", of: #"{"a":\#(text)}"#, as: Int64.self) }
    }

    @Test("every power of ten and its neighbours, and every integer below 3,000, are read as they were written")
    func writesIntegers() throws {
        var values: [Int64] = [.max, .min, .max - 1, .min + 1] + Array(0..<3_000)
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            values += [power - 1, power, power + 1, -power, -power + 1, power / 7 * 3]
        }
        for value in values {
            var writer = JSONWriter()
            writer.object { $0.member("a", value) }
            #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"a":\#(value)}"#)
            #expect(try member("a", of: String(decoding: writer.bytes, as: UTF8.self)) == value)
        }
    }
}
