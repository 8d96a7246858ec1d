import Foundation
import TestSupport
import Testing

@Suite("The pages with screens")
struct ScreenPageTests {
    @Test("they show the screens as their tests have them")
    func showsScreens() throws {
        let pages = try ["terminal", "bars-and-hooks"].map { try BuiltProduct.text(of: "docs/\($0).md") }.joined()
        let pictures = pages.matches(
            of: #/<!-- (Tests/Programs/Pictures/([a-z0-9-]+)\.txt) -->\n```[a-z]*\n((?s).*?)```\n/#
        )
        for picture in pictures {
            #expect(try picture.3 == BuiltProduct.text(of: String(picture.1)), "\(picture.1)")
        }
        let kinds = Set(pictures.map { $0.2.prefix { $0 != "-" } })
        #expect(kinds == ["bar", "table", "button", "code", "waybar"])
        #expect(pictures.count == pages.matches(of: #/Tests/Programs/Pictures/#).count)
        #expect(pictures.count { $0.2.hasPrefix("button-") } == 4)
    }
}
