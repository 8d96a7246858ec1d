import Foundation
import TestSupport
import Testing

@Suite("The example of a verification code")
final class VerificationCodeTests: TerminalSuite {
    private func page(_ phone: String = "") throws -> TerminalPane {
        let script = BuiltProduct.source("examples/verification-code.sh")
        return try terminal(
            "'\(script)' '\(phone)'",
            ["LENGTH": "1h", "XDG_RUNTIME_DIR": daemon.directory.path],
            rows: 24
        )
    }

    /// The code that the phone shows.
    private func code(in picture: String) throws -> String {
        String(try #require(picture.firstMatch(of: #/Your phone shows: code ([0-9]{4}),/#)).1)
    }

    @Test("left in the middle, the countdown runs on; a login cancels it, and the next visit can send at once")
    func wholePage() throws {
        let first = try page()
        try first.wait(for: "Phone number:")
        try first.type("+86 138 0013 8000\r", untilItLooksLike: "page-number")
        try first.type("\r")
        let sent = try code(in: first.wait(for: "Resend in "))
        try first.type("1\u{3}", untilExit: 130)

        let second = try page("+8613800138000")
        try second.wait(for: "the first visit's countdown") { $0.contains(#/Resend in 3[56][0-9]{2} s/#) }
        #expect(try !second.picture().contains("Your phone shows"))
        try second.type(sent == "0000" ? "1111" : "0000", until: "That is not the code.")
        try second.paste("code \(sent), valid for 5 min")
        try second.waitForExit(0)
        #expect(try second.picture().contains("Welcome, +8613800138000."))
        #expect(try run("is-running", "login/+8613800138000").exitCode == 3)

        let third = try page("+8613800138000")
        try third.wait(for: "enter press")
        try third.type("\r", until: "Your phone shows: code")
        try third.wait(for: "Resend in 3")
    }

    @Test("the second button sends another code, which is then the one")
    func resends() throws {
        let page = try page("13800")
        try page.wait(for: "enter press")
        try page.type("\r", until: "Resend in ")
        try run("finish", "login/13800")
        try page.wait(for: "┃")
        try page.type("\t\r")
        try page.wait(for: "two codes") { $0.matches(of: #/phone shows/#).count == 2 }
        let sent = try page.picture().matches(of: #/shows: code ([0-9]{4})/#).map { String($0.1) }
        try page.type(try #require(sent.last), until: "Welcome, 13800.")
    }

    @Test("an invalid phone number is refused")
    func refuses() throws {
        let page = try page("tea")
        try page.waitForExit(64)
    }
}
