import Testing
import Varlink

@Suite("Members written with one check for room")
struct JSONMembersTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("first", "a")
            body(&writer)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("they are the same as members written one by one")
    func areAsOneByOne() {
        for number in [0, 7, -1, 1_234_567_890_123_456, .max, .min] as [Int64] {
            let together = text { writer in
                writer.members(atMost: 300) { members in
                    members.member("number", number)
                    members.member("is", number > 0)
                    members.member("color", word: "red")
                    members.memberIfPresent("none", nil)
                    members.memberIfPresent("some", number)
                    members.member("text", utf8: "a\"b".utf8Span.span)
                    members.openObject("object")
                    members.first("color", word: "red")
                    members.member("number", number)
                    members.closeObject()
                }
                writer.member("last", 1)
            }
            let oneByOne = text { writer in
                writer.member("number", number)
                writer.member("is", number > 0)
                writer.member("color", "red")
                writer.member("some", number)
                writer.member("text", "a\"b")
                writer.member(
                    "object",
                    object: { writer in
                        writer.member("color", "red")
                        writer.member("number", number)
                    }
                )
                writer.member("last", 1)
            }
            #expect(together == oneByOne)
        }
    }

    @Test(
        "the first member is written with the escapes that it needs",
        arguments: ["", "a", "tea", "login/+8613800138000", "茶", "\"", "a\\b\"c", "\u{1}\n\u{1F}", "all but \u{0}"]
    )
    func first(text: String) {
        var together = JSONWriter()
        together.object { writer in
            writer.members(atMost: 10 + JSONMembers.room(forString: text.utf8.count)) { members in
                members.first("first", utf8: text.utf8Span.span)
            }
            writer.member("last", 1)
        }
        var alone = JSONWriter()
        alone.object { writer in
            writer.member("first", text)
            writer.member("last", 1)
        }
        #expect(together.bytes == alone.bytes)
    }

    @Test("they may use all of the room")
    func fillRoom() {
        let text = text { $0.members(atMost: 10 + 20) { $0.member("number", .min) } }
        #expect(text == #"{"first":"a","number":-9223372036854775808}"#)
    }
}
