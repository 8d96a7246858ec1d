import Foundation
import TestSupport
import Testing

/// The executables as linked.
@Suite("Executables")
struct BinaryTests {
    /// A dynamically linked executable contains the library's name; a statically linked one contains the module's name.
    private func linksFoundation(_ program: String) throws -> Bool {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: BuiltProduct.path(of: program)), options: .alwaysMapped)
        return ["libFoundation", "FoundationEssentials"].contains { bytes.range(of: Data($0.utf8)) != nil }
    }

    @Test("countdownd and countdown-notify link no Foundation, and the check finds it in countdownctl")
    func foundation() throws {
        #expect(try !linksFoundation("countdownd"))
        #expect(try !linksFoundation("countdown-notify"))
        #expect(try linksFoundation("countdownctl"))
    }
}
