import CSearch
import Glibc

extension UnsafeRawBufferPointer {
    /// The place behind a text from an offset on; nil where it does not stand there.
    func end(of text: [UInt8], from start: Int) -> Int? {
        guard start < count, let found = memmem(baseAddress! + start, count - start, text, text.count) else {
            return nil
        }
        return UnsafeRawPointer(found) - baseAddress! + text.count
    }

    /// Finds each marker, and calls the body with the place behind it, which says where to go on; nil where what it looks
    /// for has not come yet.
    ///
    /// - Returns: how much has been dealt with.
    func forEach(marker: [UInt8], _ body: (Int) -> Int?) -> Int {
        var start = 0
        while let place = end(of: marker, from: start) {
            guard let next = body(place) else { return place - marker.count }
            start = next
        }
        // A marker may have come by half.
        return Swift.max(start, count - (marker.count - 1))
    }

    /// The number of so many digits at a place.
    func number(at place: Int, digits: Int) -> Int {
        self[place..<place + digits].reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
    }
}
