extension Interface {
    /// The longest call that the daemon accepts, in bytes without the NUL at its end.
    package static let callLimit = 256 << 10
}
