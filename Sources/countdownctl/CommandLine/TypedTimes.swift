/// Lengths and times that were typed, read with what is wrong with them as a `Failure`.
extension DurationText {
    static func read(_ text: String) throws(Failure) -> Int64 {
        do {
            return try parse(text)
        } catch {
            throw .usage(error.description)
        }
    }
}

extension ClockTime {
    static func read(_ text: String, _ clock: ClockText) throws(Failure) -> ClockTime {
        do {
            return try ClockTimeText(now: clock.now, zone: clock.zone).parse(text)
        } catch {
            throw .usage(error.description)
        }
    }
}
