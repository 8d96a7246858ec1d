/// The version of the daemon, its clients and this module: they are released together.
public enum Version {
    /// By the rules of semantic versioning.
    public static let current = "0.1.0"
}
