/// A length of time as it could have been typed: `5m`, `1h30m`, `1m30.5s`, `250ms`. Reading it again gives the same
/// length.
public enum DurationFormat {
    /// The text of a length in microseconds.
    public static func render(_ microseconds: Int64) -> String {
        guard microseconds > 0 else { return "0s" }
        var rest = microseconds
        var text = ""
        for unit in [DurationUnit.day, .hour, .minute] where rest >= unit.microseconds {
            text += "\(rest / unit.microseconds)\(unit.symbol)"
            rest %= unit.microseconds
        }
        if rest > 0 { text += seconds(rest, alone: text.isEmpty) }
        return text
    }

    /// The text of a length for people, rounded: to seconds from a minute on, to hundredths of a second from a second on, and to
    /// hundredths of a millisecond below.
    public static func rounded(_ microseconds: Int64) -> String {
        let digit: Int64 =
            microseconds >= 60_000_000 ? 1_000_000 : microseconds >= 1_000_000 ? 10_000 : microseconds >= 1_000 ? 10 : 1
        let (sum, overflow) = microseconds.addingReportingOverflow(digit / 2)
        return render(overflow ? microseconds : sum / digit * digit)
    }

    /// Less than a minute; in ms or us if it is below a second and stands alone.
    private static func seconds(_ microseconds: Int64, alone: Bool) -> String {
        if alone, microseconds < 1_000 { return "\(microseconds)us" }
        if alone, microseconds < 1_000_000 {
            return microseconds % 10 > 0 && microseconds > 1_000
                ? "\(microseconds)us" : decimal(microseconds, of: .millisecond)
        }
        // Three digits behind the point could be thousands.
        if alone, microseconds.isMultiple(of: 1_000), !microseconds.isMultiple(of: 10_000) {
            return "\(microseconds / 1_000)ms"
        }
        return decimal(microseconds, of: .second)
    }

    private static func decimal(_ microseconds: Int64, of unit: DurationUnit) -> String {
        let (whole, part) = microseconds.quotientAndRemainder(dividingBy: unit.microseconds)
        guard part > 0 else { return "\(whole)\(unit.symbol)" }
        // The zeros at the front of the fraction come from the digit that is put before it and dropped.
        var fraction = String(unit.microseconds + part).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(whole).\(fraction)\(unit.symbol)"
    }
}
