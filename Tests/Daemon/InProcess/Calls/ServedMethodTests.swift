import Testing
import Varlink

@testable import countdownd

@Suite("The methods that the daemon serves")
struct ServedMethodTests {
    @Test("are those of its interfaces, in their order")
    func order() {
        let names = Translation.service.interfaces.dropFirst().flatMap(\.methods)
        #expect(ServedMethod.allCases.map { "\($0)" } == names.map { $0.prefix(1).lowercased() + $0.dropFirst() })
    }
}
