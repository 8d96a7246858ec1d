public import CountdownCore
public import Varlink

extension Metadata: JSONReadable, JSONWritable {
    /// Reads an object of strings; nil if the value is another one. Of several values with one name, the last stays.
    public static func read(from reader: inout JSONReader) throws(InvalidParameter) -> Metadata? {
        try TextMap<String>.read(from: &reader).map { Metadata($0) }
    }

    /// Writes an object of strings, in the order of its names.
    public func write(into writer: inout JSONWriter) {
        writer.object { writer in
            for (name, value) in pairs { writer.member(named: name, value) }
        }
    }
}
