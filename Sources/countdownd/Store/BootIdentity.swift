import System

/// The identity of a boot: a time of CLOCK_BOOTTIME means something only within one.
enum BootIdentity {
    /// The identity of this boot; empty if the kernel does not tell it.
    ///
    /// In a time namespace CLOCK_BOOTTIME can have an offset, so that stored times mean something else than outside of it,
    /// although the boot is the same. So the offset is a part of the identity.
    static var current: String {
        text(
            bootID: text(of: "/proc/sys/kernel/random/boot_id"),
            timeOffsets: text(of: "/proc/self/timens_offsets")
        )
    }

    /// - Parameters:
    ///   - bootID: random(4)'s text for this boot; empty if it is not known.
    ///   - timeOffsets: time_namespaces(7)'s lines for the offsets of the clocks; empty if there are no time namespaces.
    /// - Returns: empty if the kernel's text for the boot is.
    static func text(bootID: String, timeOffsets: String) -> String {
        guard let boot = bootID.split(separator: "\n").first.map(String.init) else { return "" }
        let offset = timeOffsets.split(separator: "\n")
            .map { $0.split(separator: " ") }
            .first { $0.first == "boottime" }?
            .dropFirst()
            .joined(separator: " ")
        guard let offset, offset != "0 0" else { return boot }
        return "\(boot) with CLOCK_BOOTTIME moved by \(offset) s ns"
    }

    private static func text(of path: String) -> String { (try? StoredText.read(path)) ?? nil ?? "" }
}
