import Testing

/// Checks the text format of OpenMetrics, as far as the types gauge, counter and histogram use it.
///
/// `OtherClientTests` let the parser of prometheus_client check it, too, if that is installed.
struct OpenMetricsCheck {
    private struct Family {
        let name: Substring
        let type: Substring
        /// The comments that may follow.
        var comments: [Substring] = ["UNIT", "HELP"]
        var series: Set<Substring> = []
    }

    struct Invalid: Error {
        let line: String
        let reason: String
    }

    private static var suffixes: [Substring: [Substring]] {
        ["gauge": [""], "counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]]
    }

    /// Checks all lines.
    func check(_ lines: [String]) throws {
        guard lines.last == "# EOF" else { throw Invalid(line: lines.last ?? "", reason: "it is not # EOF") }
        var names: Set<Substring> = []
        var family: Family?
        for line in lines.dropLast() {
            func expect(_ condition: Bool, _ reason: String) throws {
                guard condition else { throw Invalid(line: line, reason: reason) }
            }
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            if words.count == 4, words[0] == "#", words[1] == "TYPE" {
                try expect(family?.series.isEmpty != true, "the family before has no samples")
                try expect(names.insert(words[2]).inserted, "a family is repeated")
                try expect(Self.suffixes[words[3]] != nil, "unknown type")
                try expect(words[2].wholeMatch(of: /[a-z_:][a-z0-9_:]*/) != nil, "invalid name")
                family = Family(name: words[2], type: words[3])
            } else if words[0] == "#" {
                let place = family?.comments.firstIndex(of: words[1])
                try expect(place != nil && words.count > 3 && words[2] == family?.name, "misplaced comment")
                try expect(words[1] != "UNIT" || words[2].hasSuffix("_\(words[3])"), "the unit is not in the name")
                family?.comments.removeFirst((place ?? 0) + 1)
            } else {
                let text = /([a-z0-9_:]+)((?:\{(?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) -?[0-9]+(?:\.[0-9]+)?/
                let sample = try #require(line.wholeMatch(of: text), "\(line)")
                let current = try #require(family)
                let names = (Self.suffixes[current.type] ?? []).map { current.name + $0 }
                try expect(names.contains(sample.1), "the sample is of another family")
                try expect(family?.series.insert(sample.1 + sample.2).inserted == true, "a series is repeated")
                family?.comments = []
            }
        }
    }
}
