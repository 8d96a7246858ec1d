extension GetStatus.Reply {
    /// The limits that are durations, such as `historyAge`.
    public var durationLimits: [String: Duration] {
        let durations = limits.filter { $0.key.hasSuffix("USec") }
        let named = durations.map { (String($0.key.dropLast(4)), Duration.microseconds($0.value)) }
        return Dictionary(uniqueKeysWithValues: named)
    }
}
