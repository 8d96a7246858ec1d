public import Varlink

/// The Varlink interface `io.countdownd.Backend`, by which the daemons of a fleet reach the engine that holds their countdowns.
public enum BackendInterface {
    /// The part before the last dot in the names of methods and errors.
    public static let name = "io.countdownd.Backend"

    /// The text of the definition, as `GetInterfaceDescription` returns it. Its comments are the contract.
    public static let definition = String(decoding: PackageResources.io_countdownd_Backend_varlink, as: UTF8.self)

    /// The greatest number of proposals in a call.
    public static let proposalsLimit = 64
    /// The greatest length of a record in bytes.
    public static let recordLimit = 64 << 10
    /// The longest call and the longest reply in bytes: 64 records, in which every byte may need an escape.
    public static let messageLimit = 16 << 20

    /// Whether a text can be the key of a countdown. A bridge reports no record with another key. Changes are published in
    /// lines, so a key has no line end.
    public static func isKey(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            // Unicode never changes which scalars are controls.
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}

/// A method of `io.countdownd.Backend`: its parameters and the type of its reply.
///
/// Parameters are decoded strictly: an unknown member, a missing one and one of the wrong type are `InvalidParameter` with
/// the member's name. In replies unknown members are skipped, because a newer bridge may send them.
public protocol BackendMethod: Sendable, Hashable, JSONEncodable, JSONDecodable {
    associatedtype Reply: Sendable, Hashable, JSONEncodable, JSONDecodable

    /// The name within the interface: `Propose`.
    static var name: String { get }
}

extension BackendMethod {
    /// The name on the wire: `io.countdownd.Backend.Propose`.
    public static var fullName: String { "\(BackendInterface.name).\(name)" }
}

/// The engine cannot be reached, or cannot be used as it is.
public struct Unreachable: ReplyError, JSONEncodable, JSONDecodable, Hashable {
    /// The name on the wire, with the interface.
    public static let name = "\(BackendInterface.name).Unreachable"

    /// Why, as a sentence for people.
    public var reason: String

    /// The error with its reason.
    public init(reason: String) {
        self.reason = reason
    }

    /// The name on the wire, with the interface.
    public var errorName: String { Self.name }

    /// Writes the parameters of the error.
    public func encodeParameters(into writer: inout JSONWriter) { encode(into: &writer) }

    /// Writes the parameters of the error.
    public func encode(into writer: inout JSONWriter) {
        writer.member("reason", reason)
    }

    /// Reads the parameters of the error.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        reason = try reader.member("reason")
        reader.skipMembers()
    }
}

/// The engine's clock, as a bridge measures it against the boot clock of its machine.
public struct EngineOffset: Sendable, Hashable, JSONEncodable, JSONDecodable {
    /// How far the engine's clock is ahead of `CLOCK_BOOTTIME`, in microseconds.
    public var engineLessBootUSec: Int64
    /// The greatest error of the offset, in microseconds.
    public var errorUSec: Int64

    /// An offset and its error, in microseconds.
    public init(engineLessBootUSec: Int64, errorUSec: Int64) {
        self.engineLessBootUSec = engineLessBootUSec
        self.errorUSec = errorUSec
    }

    /// Writes the members.
    public func encode(into writer: inout JSONWriter) {
        writer.member("engineLessBootUSec", engineLessBootUSec)
        writer.member("errorUSec", errorUSec)
    }

    /// Reads the members.
    ///
    /// - Throws: the name of the member that is missing or invalid; an error is never negative.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var engineLessBootUSec = JSONMember<Int64>("engineLessBootUSec")
        var errorUSec = JSONMember<Int64>("errorUSec")
        reader.knownMembers { engineLessBootUSec.read(&$0) || errorUSec.read(&$0) }
        self.engineLessBootUSec = try engineLessBootUSec.required
        self.errorUSec = try errorUSec.required
        guard self.errorUSec >= 0 else { throw InvalidParameter("errorUSec") }
    }
}

/// The text of a record, which is a JSON object to the daemons, and a string to the bridge and the engine.
public struct RecordText: Sendable, Hashable, JSONReadable, JSONWritable {
    /// The text in UTF-8.
    public var utf8: [UInt8]

    /// A text in UTF-8.
    public init(utf8: [UInt8]) {
        self.utf8 = utf8
    }

    /// Whether a proposal may have it: a JSON object within the limit, without control characters, so without line ends.
    public var isObject: Bool {
        guard utf8.count <= BackendInterface.recordLimit, utf8.allSatisfy({ $0 >= 0x20 }) else { return false }
        return JSONReader.read(copying: utf8) { reader in
            guard reader.beginText() else { return false }
            reader.knownMembers { _ in false }
            return reader.finish() == nil
        }
    }

    /// Writes the text as a string.
    public func write(into writer: inout JSONWriter) { writer.write(utf8: utf8.span) }

    /// Reads a string, whatever its text is; nil if the value is of another kind.
    public static func read(from reader: inout JSONReader) -> RecordText? { reader.utf8().map(RecordText.init(utf8:)) }
}
