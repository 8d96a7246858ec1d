extension Duration {
    /// Whole microseconds, rounded up; the nearest number if the duration is too long for one.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let fraction = attoseconds / 1_000_000_000_000 + (attoseconds % 1_000_000_000_000 > 0 ? 1 : 0)
        let (sum, overflowOfSum) = whole.addingReportingOverflow(fraction)
        guard overflow || overflowOfSum else { return sum }
        return seconds < 0 ? .min : .max
    }
}

extension JSONWriter {
    /// Writes a member that is a number of microseconds, rounded up.
    public mutating func member(_ name: StaticString, microseconds duration: Duration) {
        member(name, duration.wholeMicroseconds)
    }

    /// Writes a member that is a number of microseconds, rounded up, or nothing if there is no value.
    public mutating func memberIfPresent(_ name: StaticString, microseconds duration: Duration?) {
        memberIfPresent(name, duration?.wholeMicroseconds)
    }
}

extension JSONReader {
    /// As ``member(_:)``, for a number of microseconds.
    public mutating func duration(_ name: StaticString) throws(InvalidParameter) -> Duration {
        .microseconds(try member(name) as Int64)
    }

    /// As ``memberIfPresent(_:)``, for a number of microseconds.
    public mutating func durationIfPresent(_ name: StaticString) throws(InvalidParameter) -> Duration? {
        (try memberIfPresent(name) as Int64?).map(Duration.microseconds)
    }
}
