import Glibc

/// The environment variables of the process.
public enum Environment {
    /// The value of a variable; nil if it is not set or empty. The XDG Base Directory Specification treats both alike.
    public static func value(of variable: String) -> String? {
        guard let value = unsafe getenv(variable), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }

    /// The working directory; nil if it was removed.
    public static var workingDirectory: String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            unsafe getcwd(buffer.baseAddress, buffer.count).map { unsafe String(cString: $0) }
        }
    }
}
