import Glibc

/// The identity of a boot, as instants of CLOCK_BOOTTIME mean something only within one.
enum Boot {
    /// The identity of this boot; empty if the kernel does not tell it.
    ///
    /// In a time namespace CLOCK_BOOTTIME has an offset, so instants mean something else there than outside of it, though
    /// the boot is the same: the offset is a part of the identity.
    static var current: String {
        identity(
            bootID: text(of: "/proc/sys/kernel/random/boot_id"),
            timeOffsets: text(of: "/proc/self/timens_offsets")
        )
    }

    /// - Parameters:
    ///   - bootID: random(4)'s text for this boot; empty if it is not known.
    ///   - timeOffsets: time_namespaces(7)'s lines for the offsets of the clocks; empty if there are no time namespaces.
    /// - Returns: empty if the kernel's text for the boot is.
    static func identity(bootID: String, timeOffsets: String) -> String {
        guard let boot = bootID.split(separator: "\n").first.map(String.init) else { return "" }
        let offset = timeOffsets.split(separator: "\n")
            .map { $0.split(separator: " ") }
            .first { $0.first == "boottime" }?
            .dropFirst()
            .joined(separator: " ")
        guard let offset, offset != "0 0" else { return boot }
        return "\(boot) with CLOCK_BOOTTIME moved by \(offset) s ns"
    }

    private static func text(of path: String) -> String {
        guard let file = try? Descriptor(owning: unsafe open(path, O_RDONLY | O_CLOEXEC), of: "open") else { return "" }
        return unsafe String(unsafeUninitializedCapacity: 256) {
            unsafe max(0, read(file.number, $0.baseAddress, $0.count))
        }
    }
}
