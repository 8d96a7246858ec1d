import Foundation
import TestSupport
import Testing

/// What the executables hold, whichever module brought it there.
@Suite("The executables")
struct BinaryTests {
    /// The name of the library stands in an executable that links it dynamically, that of the module where statically.
    private func linksFoundation(_ path: String) throws -> Bool {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
        return ["libFoundation", "FoundationEssentials"].contains { bytes.range(of: Data($0.utf8)) != nil }
    }

    private static let released = BuiltProduct.packageDirectory.appendingPathComponent("bin/countdownd").path

    @Test("countdownd and countdown-notify link no Foundation, and a look at countdownctl shows that it would be seen")
    func foundation() throws {
        #expect(try !linksFoundation(BuiltProduct.path(of: "countdownd")))
        #expect(try !linksFoundation(BuiltProduct.path(of: "countdown-notify")))
        #expect(try linksFoundation(BuiltProduct.path(of: "countdownctl")))
    }

    @Test(
        "the released countdownd holds no Foundation either",
        .enabled(if: FileManager.default.fileExists(atPath: released), "make build has not been run")
    )
    func releasedFoundation() throws {
        #expect(try !linksFoundation(Self.released))
    }
}
