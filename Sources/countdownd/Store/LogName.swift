/// The names of the files of a log: ten digits, and what the file is.
enum LogName {
    enum Kind: String {
        case base
        case segment = "log"
    }

    /// The end of the name of a file that is being written.
    static let unfinished = ".new"
    private static let digits = 10

    static func name(_ kind: Kind, _ number: Int64) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text + "." + kind.rawValue
    }

    /// Nil if it is no name of a file of a log.
    static func parse(_ name: String) -> (kind: Kind, number: Int64)? {
        guard let dot = name.firstIndex(of: "."), let kind = Kind(rawValue: String(name[name.index(after: dot)...])),
            let number = Int64(name[..<dot]), number > 0, self.name(kind, number) == name
        else { return nil }
        return (kind, number)
    }
}
