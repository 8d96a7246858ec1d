import IPC
import TestSupport
import Testing
import Varlink

/// Four pages of an app, each with its "send me a code, again in 60 s": the faults of one timer per page, and of one
/// timer for all pages.
@Suite("Four pages, and a countdown for each")
final class FourPagesTests: SmallDaemonSuite {
    private static let pages = ["login", "find-password", "register", "change-phone"]

    private static func orders(of pages: [String]) -> [[String]] {
        guard !pages.isEmpty else { return [[]] }
        return pages.flatMap { page in orders(of: pages.filter { $0 != page }).map { [page] + $0 } }
    }

    @Test("started, restarted and cancelled in every order, each cancel ends its own countdown alone")
    func everyOrder() throws {
        let orders = Self.orders(of: Self.pages)
        #expect(orders.count == 24)
        for (index, startOrder) in orders.enumerated() {
            for cancelOrder in orders {
                let restartOrder = orders[(index + 7) % orders.count]
                try runThrough(startOrder, restartOrder, cancelOrder)
            }
        }
        #expect(try caller.call(GetStatus()).counters["changes"] == 24 * 24 * 12)
    }

    private func runThrough(_ startOrder: [String], _ restartOrder: [String], _ cancelOrder: [String]) throws {
        for page in startOrder { try caller.send(Start(key: page)) }
        for page in restartOrder { try caller.send(Start(key: page, ifRunning: .restart)) }
        for page in cancelOrder {
            try caller.send(Cancel(key: page))
            try caller.send(List())
        }
        for _ in startOrder { #expect(try caller.answer(to: Start.self).value.outcome == .started) }
        for _ in restartOrder { #expect(try caller.answer(to: Start.self).value.outcome == .restarted) }
        var running = restartOrder
        for page in cancelOrder {
            let cancelled = try caller.answer(to: Cancel.self).value.countdown
            #expect(cancelled.key == page)
            #expect(cancelled.state == .cancelled)
            running.removeAll { $0 == page }
            #expect(try caller.answer(to: List.self).value.countdowns.map(\.key) == running)
        }
    }
}
