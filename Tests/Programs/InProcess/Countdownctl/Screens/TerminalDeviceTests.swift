import Glibc
import IPC
import System
import TestSupport
import Testing

@testable import countdownctl

@Suite("The keyboard of a screen")
struct TerminalDeviceTests {
    @Test(
        "a terminal of one column has one column, and a wider one leaves its last column free",
        arguments: [1, 2, 80]
    )
    func measures(columns: UInt16) throws {
        let pair = try TerminalPair(columns: columns)
        let output = StandardStream(descriptor: pair.terminal)
        let device = TerminalDevice(input: nil, output, TerminalModes(), isOwn: false)
        #expect(device.size.columns == max(Int(columns) - 1, 1))
    }

    @Test("a read returns at once if the kernel dropped the keys that poll(2) had reported")
    func readsNothing() throws {
        let pair = try TerminalPair()
        var device = TerminalDevice(
            input: pair.terminal,
            StandardStream(descriptor: pair.terminal),
            TerminalModes(),
            isOwn: false
        )
        try device.enter()
        pair.type("1")
        var set = PollSet()
        let place = set.add(pair.terminal)
        set.add(.after(microseconds: 60_000_000))
        set.wait()
        #expect(set.isReady(place))
        tcflush(pair.terminal, TCIFLUSH)
        // A read that would wait fails on this descriptor.
        #expect(fcntl(pair.terminal, F_SETFL, O_RDWR | O_NONBLOCK) == 0)
        var byte: UInt8 = 0
        #expect(unsafe read(pair.terminal, &byte, 1) == 0)
    }
}
