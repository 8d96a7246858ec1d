import Foundation
import TestSupport
import Testing

@Suite("The README")
struct ReadmeTests {
    @Test("it shows the screens as their tests have them")
    func showsScreens() throws {
        let folder = BuiltProduct.packageDirectory
        let readme = try String(contentsOf: folder.appendingPathComponent("README.md"), encoding: .utf8)
        let pictures = readme.matches(
            of: #/<!-- (Tests/Fixtures/screens/([a-z0-9-]+)\.txt) -->\n```[a-z]*\n((?s).*?)```\n/#
        )
        for picture in pictures {
            let kept = try String(contentsOf: folder.appendingPathComponent(String(picture.1)), encoding: .utf8)
            #expect(picture.3 == kept, "\(picture.1)")
        }
        let kinds = Set(pictures.map { $0.2.prefix { $0 != "-" } })
        #expect(kinds == ["bar", "table", "button", "code", "waybar"])
        #expect(pictures.count == readme.matches(of: #/Tests/Fixtures/screens/#).count)
        #expect(pictures.count { $0.2.hasPrefix("button-") } == 4)
    }
}
