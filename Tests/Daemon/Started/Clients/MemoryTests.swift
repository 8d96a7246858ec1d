import CountdownCore
import Foundation
import IPC
import TestSupport
import Testing

/// A real daemon is filled up to a limit, and its memory stays below the calculated ceiling.
@Suite("The limit of memory", .enabled(if: Sanitizers.areAbsent, "a sanitizer takes memory of its own"))
struct MemoryTests {
    private let daemon: DaemonProcess
    private let caller: Caller
    private let before: Int

    init() throws {
        daemon = try DaemonProcess()
        caller = try Caller(of: daemon)
        _ = try caller.call(GetStatus())
        before = try daemon.residentBytes()
    }

    private func growth() throws -> Int { try daemon.residentBytes() - before }

    private func start(_ count: Int, length: Int64, _ texts: String, forget: Bool = false) throws {
        let prefix = String(repeating: "k", count: 240)
        for first in stride(from: 0, to: count, by: 100) {
            let calls = (first..<first + 100).map { number in
                let members = #""durationUSec":\#(length),"forget":\#(forget)\#(texts)"#
                let parameters = #"{"key":"\#(prefix)\#(number)",\#(members)}"#
                return #"{"method":"io.countdownd.Start","parameters":\#(parameters),"oneway":true}"# + "\0"
            }
            try caller.connection.send(Array(calls.joined().utf8))
        }
        _ = try caller.call(GetStatus())
    }

    @Test("holds for countdowns with the longest keys and ticks at two intervals")
    func countdowns() throws {
        try start(4_000, length: 3_600_000_000, "")
        #expect(try caller.call(GetStatus()).running == 4_000)
        let watchers = try [5_000_000, 7_000_000].map { tick in
            try RawReader(of: daemon, #"{"tickUSec":\#(tick)}"#)
        }
        for watcher in watchers { try watcher.readThroughSynced() }
        var limits = Limits()
        (limits.countdowns, limits.textBytesInAll, limits.tickPlaces) = (4_000, 0, 8_000)
        let ceiling = limits.countdownsCeiling + limits.ticksCeiling + 4 * 1_024 * 1_024
        #expect(try growth() < ceiling)
        #expect(try growth() > ceiling / 8)
    }

    @Test("holds for labels and metadata, as they are counted")
    func texts() throws {
        let label = String(repeating: "l", count: 1_024)
        let pairs = (0..<32).map { #""name-\#($0)":"\#(String(repeating: "v", count: 100))""# }
        try start(2_000, length: 3_600_000_000, #","label":"\#(label)","metadata":{\#(pairs.joined(separator: ","))}"#)
        var limits = Limits()
        limits.countdowns = 2_000
        limits.textBytesInAll = 2_000 * (32 + 1_024 + 32 * (96 + 107))
        let ceiling = limits.countdownsCeiling + 8 * 1_024 * 1_024
        #expect(try growth() < ceiling)
        #expect(try growth() > ceiling / 4)
    }

    @Test("holds for connections with the longest unfinished message, and for the largest watches")
    func connections() throws {
        let keys = (0..<40_000).map { #""\#(String($0, radix: 36))""# }.joined(separator: ",")
        let patterns = (0..<64).map { #""*\#(String(repeating: "ab", count: 100))\#($0)""# }.joined(separator: ",")
        let watches = [#"{"keys":[\#(keys)],"tickUSec":0}"#, #"{"match":[\#(patterns)],"tickUSec":0}"#]
        let watchers = try (0..<20).map { try RawReader(of: daemon, watches[$0 % 2]) }
        for watcher in watchers { try watcher.readThroughSynced() }
        let half = [UInt8](repeating: UInt8(ascii: " "), count: 262_144)
        for watcher in watchers { try watcher.connection.send(half) }
        _ = try caller.call(GetStatus())
        var limits = Limits()
        limits.receivedBytesInAll = 20 * 2 * (limits.messageBytes + limits.readBytesInTurn)
        limits.selectionBytesInAll = 10 * (40_000 * 324 + 64 * 96 * 204)
        let ceiling =
            20 * limits.connectionCeiling + limits.receivedCeiling + limits.selectionBytesInAll + 8 * 1_024 * 1_024
        #expect(try growth() < ceiling)
        #expect(try growth() > ceiling / 16)
    }
}

/// A watcher that keeps its replies as text.
private struct RawReader {
    let connection: RawConnection

    init(of daemon: DaemonProcess, _ parameters: String) throws {
        connection = try daemon.connect()
        try connection.send(message: #"{"method":"io.countdownd.Watch","more":true,"parameters":\#(parameters)}"#)
    }

    func readThroughSynced() throws {
        while try !connection.message().contains(#""type":"synced""#) {}
    }
}

extension DaemonProcess {
    /// The daemon's memory.
    fileprivate func residentBytes() throws -> Int {
        let sizes = try String(contentsOfFile: "/proc/\(process.identifier)/statm", encoding: .utf8)
        return (Int(sizes.split(separator: " ")[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}

/// The memory that the limits allow: the sizes of the structures, rounded up, with the reserve of arrays and tables.
extension Limits {
    /// Running and paused countdowns with the longest key (entry, cold fields, deadline, place in the index), labels and
    /// metadata.
    fileprivate var countdownsCeiling: Int { countdowns * 448 + 2 * textBytesInAll }

    /// The entries on the timing wheels.
    fileprivate var ticksCeiling: Int { tickPlaces * 128 }

    /// One connection, besides the buffers that are counted together: its state, and pages.
    fileprivate var connectionCeiling: Int { 4 * pageBytes + 8 * 1_024 }

    /// The input buffers, and what one client adds before the clients with the largest buffers are disconnected.
    fileprivate var receivedCeiling: Int { receivedBytesInAll + 2 * (messageBytes + readBytesInTurn) }
}
