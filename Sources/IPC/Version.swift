/// The version of the daemon, its clients and this module: they are released together.
package enum Version {
    /// The version number, see semver.org.
    package static let current = "0.1.0"
}
