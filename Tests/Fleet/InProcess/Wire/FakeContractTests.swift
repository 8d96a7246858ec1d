public import BackendContract
public import FakeBackend
import Testing

extension FakeBackend: EngineController {}

@Suite("The contract of backends, with the fake one")
struct FakeContractTests {
    @Test(arguments: BackendContract.cases)
    func contract(_ promise: BackendContract.Case) throws {
        let backend = try FakeBackend()
        try promise.check(socket: backend.socket, engine: backend)
    }
}
