import VarlinkDefinition

/// The Swift types of an interface, in the order of the definition. Names have the names of the types around them.
struct SwiftModel {
    struct Structure {
        let path: String
        let name: String
        let access: String
        let members: [Member]
        /// Whether unknown members are refused.
        let isStrict: Bool
        /// The name of the method with these parameters, and the Swift type of its reply.
        let method: (name: String, reply: String)?
        let documentation: [Comment.Part]
    }

    struct Member {
        let path: String
        /// The name on the wire.
        let wire: String
        let name: String
        /// The Swift type, without the mark of an optional one.
        let type: String
        let isOptional: Bool
        /// The access of the stored property.
        let access: String
        /// A property with the same value as a duration or an instant.
        let view: (name: String, type: String)?
        /// The structure of which it is a list, if one with an unknown word is left out.
        let extensible: String?
        /// The default value in initializers.
        let value: String?
        let documentation: [Comment.Part]
    }

    struct Enumeration {
        let name: String
        let access: String
        let cases: [(name: String, wire: String, documentation: [Comment.Part])]
        let documentation: [Comment.Part]
    }

    enum Declaration {
        case structure(Structure)
        case enumeration(Enumeration)
    }

    struct Failure {
        let name: String
        /// The name on the wire, without the interface.
        let wire: String
        let members: [Member]
        let documentation: [Comment.Part]
    }

    let definition: Definition
    let options: GeneratorOptions
    /// The enumeration with the interface's name and methods.
    let interface: String
    /// The enumeration of the errors.
    let errorsName: String
    var declarations: [Declaration] = []
    /// The types of the methods.
    var methods: [String] = []
    var failures: [Failure] = []
}
