import Glibc

/// The variables that the process was started with.
public enum Environment {
    /// The value of a variable, or nil where it is not set. An empty one counts as not set, as the XDG Base Directory
    /// Specification has it.
    public static func value(of variable: String) -> String? {
        guard let value = unsafe getenv(variable), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }
}
