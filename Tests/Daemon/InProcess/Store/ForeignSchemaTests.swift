import CountdownCore
import TestSupport
import Testing

@testable import countdownd

@Suite("A schema that another program has changed")
struct ForeignSchemaTests {
    private let scene: StoreScene

    init() throws {
        scene = try StoreScene()
        _ = try scene.open().turn(.start("tea"), at: scene.now)
    }

    @Test("its triggers do not run in the daemon")
    func triggers() throws {
        try scene.connect().execute(
            """
            CREATE TABLE planted (event);
            CREATE TRIGGER on_insert AFTER INSERT ON batch BEGIN INSERT INTO planted VALUES ('insert'); END;
            CREATE TRIGGER on_update BEFORE UPDATE ON batch BEGIN DELETE FROM batch; END;
            CREATE TRIGGER on_delete BEFORE DELETE ON batch BEGIN DELETE FROM batch; END;
            CREATE TRIGGER on_daemon AFTER UPDATE ON daemon BEGIN DELETE FROM batch; END;
            """
        )
        var keys: [String] = []
        do {
            let keeper = try scene.open()
            for number in 0..<300 {
                let key = "\(number % 7)"
                try keeper.turn(.start(key), .cancel(Key(key)), at: scene.now)
            }
            keeper.stop()
            keys = keeper.known.map(\.key.text)
        }
        #expect(try scene.integer("SELECT count(*) FROM planted") == 0)
        #expect(try scene.open().known.map(\.key.text) == keys)
    }
}
