import Testing

@testable import countdownd

@Suite("A page of elements")
struct ElementPageTests {
    private func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    @Test("an empty page is an empty array")
    func empty() {
        var page = ElementPage()
        #expect(page.isEmpty)
        #expect(text(page.take()) == "[]")
        #expect(page.isEmpty)
    }

    @Test("elements keep their order and have commas between them")
    func elements() {
        var page = ElementPage()
        for element in ["{}", "1", "\"a\""] { page.append(Array(element.utf8)) }
        #expect(!page.isEmpty)
        #expect(page.count == 9)
        #expect(text(page.take()) == #"[{},1,"a"]"#)
    }

    @Test("a page is empty after it was taken")
    func again() {
        var page = ElementPage()
        page.append(Array("1".utf8))
        _ = page.take()
        #expect(page.count == 0)
        page.append(Array("2".utf8))
        #expect(text(page.take()) == "[2]")
    }
}
