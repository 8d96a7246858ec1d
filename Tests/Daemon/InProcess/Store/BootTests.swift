import Testing

@testable import countdownd

@Suite("The identity of a boot")
struct BootTests {
    @Test("it is the kernel's, if the boot clock has no offset or there are no time namespaces")
    func plain() {
        let offsets = "monotonic           0         0\nboottime            0         0\n"
        #expect(BootIdentity.text(bootID: "94cb\n", timeOffsets: offsets) == "94cb")
        #expect(BootIdentity.text(bootID: "94cb\n", timeOffsets: "") == "94cb")
    }

    @Test("it is another one in a time namespace whose boot clock has another offset")
    func moved() {
        let identities = ["1000         0", "1000         5", "-1000         0"].map { offset in
            BootIdentity.text(bootID: "94cb\n", timeOffsets: "monotonic 9 9\nboottime         \(offset)\n")
        }
        #expect(Set(identities + ["94cb"]).count == 4)
    }

    @Test("it is unknown if the kernel does not report it")
    func unknown() {
        #expect(BootIdentity.text(bootID: "", timeOffsets: "boottime 5 0\n") == "")
    }
}
