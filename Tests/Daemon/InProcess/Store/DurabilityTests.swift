import CountdownCore
import Testing

@testable import countdownd

@Suite("Durability")
struct DurabilityTests {
    @Test("with power-loss each turn is synced to the disk, with process none")
    func synchronous() throws {
        let scene = try StoreScene()
        // The file is new first, then an old one.
        for _ in 1...2 {
            for (durability, synchronous) in [(.process, 1), (.powerLoss, 2)] as [(Durability, Int64)] {
                let opened = try scene.file(durability).openOrBeginAnew()
                func pragma(_ name: String) throws -> Int64? { try opened.database.integer("PRAGMA \(name)") }
                #expect(try pragma("synchronous") == synchronous)
                #expect(try pragma("page_size") == 1_024)
                let mode = try opened.database.prepare("PRAGMA journal_mode")
                #expect(try mode.step())
                #expect(mode.text(0) == "wal")
            }
        }
    }
}
