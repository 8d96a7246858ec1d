extension Array {
    /// Finds the longest sequence of elements whose numbers rise.
    ///
    /// - Parameter number: of an element; nil if it has none, and is in no sequence.
    /// - Returns: their indices.
    func longestRise(_ number: (Element) -> Int64?) -> [Int] {
        // For each length, the lowest element that ends a sequence of this length; and the one before each element.
        var last: [(index: Int, number: Int64)] = []
        var before: [Int?] = []
        for (index, element) in enumerated() {
            var lengths = 0..<last.count
            guard let number = number(element) else {
                before.append(nil)
                continue
            }
            while !lengths.isEmpty {
                let middle = lengths.lowerBound + lengths.count / 2
                lengths = last[middle].number < number ? middle + 1..<lengths.upperBound : lengths.lowerBound..<middle
            }
            let length = lengths.lowerBound
            before.append(length > 0 ? last[length - 1].index : nil)
            if length < last.count { last[length] = (index, number) } else { last.append((index, number)) }
        }
        guard let end = last.last else { return [] }
        return sequence(first: end.index) { before[$0] }.reversed()
    }
}
