import Testing
import Varlink

@Suite("Members for which room is made at once")
struct JSONMembersTests {
    private enum Color: String, CaseIterable {
        case red
        case `as long as no other`
    }

    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("first", "a")
            body(&writer)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("they are written as they are one by one")
    func areAsOneByOne() {
        for number in [0, 7, -1, 1_234_567_890_123_456, .max, .min] as [Int64] {
            for color in Color.allCases {
                let together = text { writer in
                    writer.members(atMost: 200) { members in
                        members.member("number", number)
                        members.member("is", number > 0)
                        members.member("color", color)
                        members.memberIfPresent("none", nil)
                        members.memberIfPresent("some", number)
                    }
                    writer.member("last", 1)
                }
                let oneByOne = text { writer in
                    writer.member("number", number)
                    writer.member("is", number > 0)
                    writer.member("color", color)
                    writer.member("some", number)
                    writer.member("last", 1)
                }
                #expect(together == oneByOne)
            }
        }
    }

    @Test("they may take all of the room")
    func fillRoom() {
        let text = text { $0.members(atMost: 10 + 20) { $0.member("number", .min) } }
        #expect(text == #"{"first":"a","number":-9223372036854775808}"#)
    }
}
