import Testing

@testable import countdownd

@Suite("The tokens of connections")
struct ConnectionTokenTests {
    @Test("after billions of connections they are neither the daemon's own, nor negative as the number of a watcher")
    func wrap() {
        for made in [0, UInt64(Int32.max), UInt64(UInt32.max)] as [UInt64] {
            var table = ConnectionTable(tokensMade: made)
            for _ in 0..<2 {
                let token = table.makeToken()
                #expect(token >= 1 << 32)
                #expect(Int(exactly: token) != nil)
            }
        }
    }
}
