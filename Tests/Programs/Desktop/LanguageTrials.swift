import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@Suite("Notifications in the language of the user")
struct LanguageTrials {
    private let scene: Scene

    init() throws { scene = try Scene() }

    /// Starts a countdown-notify that is installed with its translations, in a language.
    private func notify(_ language: String) throws -> NotifyProcess {
        let directory = scene.desktop.directory
        let folder = "share/locale/\(language)/LC_MESSAGES"
        for path in ["bin", folder] { try directory.makeDirectory(path) }
        let source = BuiltProduct.source("packaging/po/\(language).po")
        let compiled = try RunningCommand(
            ["--output-file=\(directory.path(of: folder))/countdownd.mo", source],
            executable: "/usr/bin/msgfmt"
        ).finish()
        #expect(compiled.exitCode == 0)
        let program = directory.path(of: "bin/countdown-notify")
        try FileManager.default.copyItem(atPath: BuiltProduct.path(of: "countdown-notify"), toPath: program)
        return try NotifyProcess(
            of: scene.daemon.socketPath,
            on: scene.desktop.address,
            in: directory,
            environment: ["LANG": "C.UTF-8", "LANGUAGE": language],
            executable: program
        )
    }

    @Test(
        "an end, its buttons and failures are shown in German and Chinese, and the log stays in English",
        arguments: [
            (
                "de", "Abgelaufen: ", ["Noch einmal", "+1 min", "Schließen"],
                "Das Zurücksetzen ist nicht gelungen und wird wiederholt: exit code 1",
                "Neu starten ist nicht gelungen: kein Dienst"
            ),
            (
                "zh_CN", "结束于 ", ["再来一次", "+1 分钟", "关闭"], "无法还原，将再次尝试：exit code 1",
                "无法重新开始："
            ),
        ]
    )
    func shown(language: String, body: String, titles: [String], undo: String, again: String) throws {
        let notify = try notify(language)
        try scene.end("tea")
        let shown = try scene.server.next()
        #expect(shown.summary == "tea")
        #expect(shown.body?.hasPrefix(body) == true)
        #expect(shown.actions?.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element) == titles)
        let metadata: TextMap = ["undo-failure": "exit code 1"]
        try scene.call(Start(key: "undo-failed/dnd", durationUSec: 1, label: "dnd", metadata: metadata))
        let failed = try scene.server.next()
        #expect(failed.summary == "dnd" && failed.body == undo)
        #expect(failed.actions == ["default", titles[2]])
        try scene.daemon.kill()
        try scene.server.choose("again", of: shown.id)
        #expect(try scene.server.next().body?.hasPrefix(again) == true)
        #expect(notify.standardError.contains("the daemon closed the connection"))
    }

    @Test("a number of ends is in the plural of the language")
    func plural() throws {
        try notify("de").terminate()
        try FileManager.default.removeItem(atPath: scene.desktop.directory.path(of: "bin/countdown-notify"))
        try scene.end("a", "b", "c", "d")
        let notify = try notify("de")
        #expect(try scene.server.next().summary == "4 Countdowns sind abgelaufen")
        withExtendedLifetime(notify) {}
    }
}
