import TestSupport
import Testing

/// The manager is what it is here; a drop-in of the user's has it keep states where one before 254 does, or one since.
@Suite("An upgrade of systemd, which keeps states elsewhere from 254 on", .onMachine)
struct UpgradeTests {
    private static let old = "[Service]\nStateDirectory=\nEnvironment=STATE_DIRECTORY=%h/.config/countdownd"
    private static let new = "[Service]\nStateDirectory=\nEnvironment=STATE_DIRECTORY=%h/.local/state/countdownd"
    private static let oldStore = "~/.config/countdownd/countdowns.db"
    private static let newStore = "~/.local/state/countdownd/countdowns.db"

    /// Somebody with countdowns under the old manager, who has started a daemon by hand besides, with a countdown or none.
    private func session(of user: User, byHand key: String?) throws -> Session {
        let machine = try Machine.shared.get()
        try machine.shell(user, "mkdir -p ~/.config/countdownd")
        let session = try Session(of: user, dropIn: Self.old)
        try session.countdownctl("start tea 1h")
        try session.countdownctl("start egg 1h")
        try session.countdownctl("cancel egg")
        let home = "/home/\(user.rawValue)"
        try machine.shell(
            user,
            "systemd-run --user --quiet --unit=hand -p Type=notify countdownd --socket \(home)/socket"
        )
        if let key { try machine.shell(user, "COUNTDOWND_SOCKET=~/socket countdownctl start \(key) 1h") }
        try session.systemctl("stop", "hand.service")
        return session
    }

    private func upgrade(_ session: Session) throws {
        try session.logOut()
        try session.write(Self.new)
        try session.logIn()
    }

    @Test("takes the store along, also where a daemon that was tried has made one")
    func moves() throws {
        let session = try session(of: .heidi, byHand: nil)
        try upgrade(session)
        #expect(try session.keys() == ["tea"])
        #expect(try session.countdownctl("show egg --json").contains(#""state":"cancelled""#))
        try session.machine.shell(.heidi, "test -e \(Self.newStore); test ! -e \(Self.oldStore)")
        let line = try session.journal().last { $0["COUNTDOWND_STORE"] != nil }
        #expect(line?["MESSAGE"]?.contains("was moved to") == true)
        #expect(line?["COUNTDOWND_STORE"] == "/home/heidi/.local/state/countdownd/countdowns.db")
        #expect(line?["COUNTDOWND_OTHER_STORE"] == "/home/heidi/.config/countdownd/countdowns.db")
    }

    @Test("names both stores where a daemon that was started by hand keeps countdowns; what it advises has the others")
    func two() throws {
        let session = try session(of: .ivan, byHand: "hand")
        try upgrade(session)
        #expect(try session.keys() == ["hand"])
        let said = try #require(try session.journal().last { $0["COUNTDOWND_OTHER_STORE"] != nil }?["MESSAGE"])
        #expect(said.contains("/home/ivan/.config/countdownd/countdowns.db"))
        #expect(said.contains("move /home/ivan/.local/state/countdownd/countdowns.db away"))
        try session.systemctl("stop", "countdownd.service")
        try session.machine.shell(.ivan, "mv \(Self.newStore) ~/away.db")
        #expect(try session.keys() == ["tea"])
    }
}
