import BackendContract
import Testing

@Suite("The contract of backends, with Redis", .serialized)
struct RedisContractTests {
    @Test(arguments: BackendContract.cases)
    func contract(_ promise: BackendContract.Case) throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        try promise.check(socket: bridge.socket, engine: server)
        #expect(bridge.program.isRunning)
    }
}
