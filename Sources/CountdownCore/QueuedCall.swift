/// A call of `Start` with `ifRunning: wait` that has a place in the queue of its key.
///
/// A queue is an array of such calls. The same rules hold on a daemon alone and on a member of a fleet: a call has the place that its
/// arrival gives it, also if it comes back, and it leaves the queue when it is served, or when its client is gone.
public protocol QueuedCall {
    /// A call that came later has a greater number.
    var number: Int { get }
}

extension Array where Element: QueuedCall {
    /// Puts a call where its number belongs, behind the calls that came before it.
    public mutating func enqueue(_ call: Element) { insert(call, at: place(of: call.number)) }

    /// Takes a call out of the queue.
    ///
    /// - Returns: its place; nil if it is not in the queue.
    @discardableResult
    public mutating func withdraw(_ number: Int) -> Int? {
        let place = place(of: number)
        guard place < count, self[place].number == number else { return nil }
        remove(at: place)
        return place
    }

    private func place(of number: Int) -> Int { firstIndex(bisecting: { $0.number >= number }) }
}

extension RandomAccessCollection where Index == Int {
    /// The first index, by bisection, from which on the condition holds for all elements; the end if it holds for none.
    @inlinable
    public func firstIndex(bisecting condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
