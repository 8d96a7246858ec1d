// Made by varlink-generate from io.systemd.UserDatabase.varlink; change that file instead.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Varlink

/// The Varlink interface `io.systemd.UserDatabase`.
///
/// The interface of systemd's services for users and groups, as https://systemd.io/USER_GROUP_API documents it.
public enum UserDatabase {
    /// The part before the last dot in the names of methods and errors.
    public static let name = "io.systemd.UserDatabase"

    /// Every method, in the order of the definition.
    public static let methods: [any Method.Type] = [
        UserDatabase.GetUserRecord.self,
        UserDatabase.GetGroupRecord.self,
        UserDatabase.GetMemberships.self,
    ]

    /// The interface as a service describes it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )

    /// The text of the definition.
    public static let definition = """
        # The interface of systemd's services for users and groups, as https://systemd.io/USER_GROUP_API documents it.
        interface io.systemd.UserDatabase

        method GetUserRecord(uid: ?int, userName: ?string, service: string) -> (record: object, incomplete: bool)

        method GetGroupRecord(gid: ?int, groupName: ?string, service: string) -> (record: object, incomplete: bool)

        method GetMemberships(userName: ?string, groupName: ?string, service: string) -> (userName: string, groupName: string)

        error NoRecordFound ()

        error BadService ()

        error ServiceNotAvailable ()

        error ConflictingRecordFound ()

        error EnumerationNotSupported ()

        """
}

extension UserDatabase {
    public struct GetUserRecord: Method {
        /// The name of the interface.
        public static var interface: String { UserDatabase.name }
        /// The name within the interface.
        public static let name = "GetUserRecord"

        public var uid: Int64?
        public var userName: String?
        public var service: String

        /// The value with these members.
        public init(uid: Int64? = nil, userName: String? = nil, service: String) {
            self.uid = uid
            self.userName = userName
            self.service = service
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.memberIfPresent("uid", uid)
            writer.memberIfPresent("userName", userName)
            writer.member("service", service)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var uid = JSONMember<Int64>("uid")
            var userName = JSONMember<String>("userName")
            var service = JSONMember<String>("service")
            try reader.members { uid.read(&$0) || userName.read(&$0) || service.read(&$0) }
            self.uid = try uid.optional
            self.userName = try userName.optional
            self.service = try service.required
        }
    }
}

extension UserDatabase.GetUserRecord {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var record: JSONObject
        public var incomplete: Bool

        /// The value with these members.
        public init(record: JSONObject, incomplete: Bool) {
            self.record = record
            self.incomplete = incomplete
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("record", record)
            writer.member("incomplete", incomplete)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var record = JSONMember<JSONObject>("record")
            var incomplete = JSONMember<Bool>("incomplete")
            reader.knownMembers { record.read(&$0) || incomplete.read(&$0) }
            self.record = try record.required
            self.incomplete = try incomplete.required
        }
    }
}

extension UserDatabase {
    public struct GetGroupRecord: Method {
        /// The name of the interface.
        public static var interface: String { UserDatabase.name }
        /// The name within the interface.
        public static let name = "GetGroupRecord"

        public var gid: Int64?
        public var groupName: String?
        public var service: String

        /// The value with these members.
        public init(gid: Int64? = nil, groupName: String? = nil, service: String) {
            self.gid = gid
            self.groupName = groupName
            self.service = service
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.memberIfPresent("gid", gid)
            writer.memberIfPresent("groupName", groupName)
            writer.member("service", service)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var gid = JSONMember<Int64>("gid")
            var groupName = JSONMember<String>("groupName")
            var service = JSONMember<String>("service")
            try reader.members { gid.read(&$0) || groupName.read(&$0) || service.read(&$0) }
            self.gid = try gid.optional
            self.groupName = try groupName.optional
            self.service = try service.required
        }
    }
}

extension UserDatabase.GetGroupRecord {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var record: JSONObject
        public var incomplete: Bool

        /// The value with these members.
        public init(record: JSONObject, incomplete: Bool) {
            self.record = record
            self.incomplete = incomplete
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("record", record)
            writer.member("incomplete", incomplete)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var record = JSONMember<JSONObject>("record")
            var incomplete = JSONMember<Bool>("incomplete")
            reader.knownMembers { record.read(&$0) || incomplete.read(&$0) }
            self.record = try record.required
            self.incomplete = try incomplete.required
        }
    }
}

extension UserDatabase {
    public struct GetMemberships: Method {
        /// The name of the interface.
        public static var interface: String { UserDatabase.name }
        /// The name within the interface.
        public static let name = "GetMemberships"

        public var userName: String?
        public var groupName: String?
        public var service: String

        /// The value with these members.
        public init(userName: String? = nil, groupName: String? = nil, service: String) {
            self.userName = userName
            self.groupName = groupName
            self.service = service
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.memberIfPresent("userName", userName)
            writer.memberIfPresent("groupName", groupName)
            writer.member("service", service)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var userName = JSONMember<String>("userName")
            var groupName = JSONMember<String>("groupName")
            var service = JSONMember<String>("service")
            try reader.members { userName.read(&$0) || groupName.read(&$0) || service.read(&$0) }
            self.userName = try userName.optional
            self.groupName = try groupName.optional
            self.service = try service.required
        }
    }
}

extension UserDatabase.GetMemberships {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var userName: String
        public var groupName: String

        /// The value with these members.
        public init(userName: String, groupName: String) {
            self.userName = userName
            self.groupName = groupName
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("userName", userName)
            writer.member("groupName", groupName)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var userName = JSONMember<String>("userName")
            var groupName = JSONMember<String>("groupName")
            reader.knownMembers { userName.read(&$0) || groupName.read(&$0) }
            self.userName = try userName.required
            self.groupName = try groupName.required
        }
    }
}

extension UserDatabase {
    /// An error of the interface `io.systemd.UserDatabase`.
    public enum Failure: InterfaceError {
        case noRecordFound
        case badService
        case serviceNotAvailable
        case conflictingRecordFound
        case enumerationNotSupported

        /// The names of the errors on the wire, in the order of the definition.
        public enum WireName: String, Sendable, CaseIterable {
            case noRecordFound = "io.systemd.UserDatabase.NoRecordFound"
            case badService = "io.systemd.UserDatabase.BadService"
            case serviceNotAvailable = "io.systemd.UserDatabase.ServiceNotAvailable"
            case conflictingRecordFound = "io.systemd.UserDatabase.ConflictingRecordFound"
            case enumerationNotSupported = "io.systemd.UserDatabase.EnumerationNotSupported"
        }

        /// The name of the error.
        public var name: WireName {
            switch self {
            case .noRecordFound: .noRecordFound
            case .badService: .badService
            case .serviceNotAvailable: .serviceNotAvailable
            case .conflictingRecordFound: .conflictingRecordFound
            case .enumerationNotSupported: .enumerationNotSupported
            }
        }

        /// Writes the parameters of the error; those that are nil are left out.
        public func encodeParameters(into writer: inout JSONWriter) {
            switch self {
            case .noRecordFound: break
            case .badService: break
            case .serviceNotAvailable: break
            case .conflictingRecordFound: break
            case .enumerationNotSupported: break
            }
        }

        /// Reads the parameters of the error with this name. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter) {
            switch name {
            case .noRecordFound: self = .noRecordFound
            case .badService: self = .badService
            case .serviceNotAvailable: self = .serviceNotAvailable
            case .conflictingRecordFound: self = .conflictingRecordFound
            case .enumerationNotSupported: self = .enumerationNotSupported
            }
            reader.skipMembers()
        }
    }
}
