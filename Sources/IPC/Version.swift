/// The version of the daemon, its clients and this module: they are released together.
public enum Version {
    /// The version number, see semver.org.
    public static let current = "0.1.0"
}
