import Glibc

/// A call of a method on the session bus.
struct MethodCall: Hashable, Sendable {
    /// Who is called, and as what.
    struct Recipient: Hashable, Sendable {
        let name: String
        let path: String
        let interface: String

        /// Whoever shows notifications.
        static let notifications = Recipient(
            name: "org.freedesktop.Notifications",
            path: "/org/freedesktop/Notifications",
            interface: "org.freedesktop.Notifications"
        )
        /// The bus itself.
        static let bus = Recipient(
            name: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus"
        )
    }

    let recipient: Recipient
    let member: String
    let arguments: [BusValue]

    init(_ recipient: Recipient, _ member: String, _ arguments: BusValue...) {
        self.recipient = recipient
        self.member = member
        self.arguments = arguments
    }
}

/// What a message carries, of the types that notifications have.
enum BusValue: Hashable, Sendable {
    case byte(UInt8)
    case int32(Int32)
    case uint32(UInt32)
    case string(String)
    case strings([String])
    /// Values by name, in this order.
    case dictionary([Entry])

    struct Entry: Hashable, Sendable {
        let name: String
        let value: BusValue
    }
}

/// What came over the bus.
enum Arrival: Equatable {
    /// A call was answered; `call` is the number that sending it gave.
    case reply(call: UInt64, [BusValue])
    /// A call was refused, by whom it was for or by the bus, with the name of the error.
    case refusal(call: UInt64, error: String)
    case signal(sender: String, interface: String, member: String, [BusValue])
}

/// Why a call was not sent.
enum SendFailure: Error, Equatable {
    /// The message cannot be written, and could not be on another connection either: sd-bus refuses a value in it.
    case unwritable(BusFailure)
    /// The connection is of no more use, or memory is short. The call can be made again on the next connection.
    case lost(BusFailure)

    /// A failure of the functions that write or send a message.
    init(_ failure: BusFailure) {
        switch failure.code {
        case EINVAL, EBADMSG, EMSGSIZE, E2BIG, EOPNOTSUPP: self = .unwritable(failure)
        default: self = .lost(failure)
        }
    }

    /// The call of sd-bus that failed.
    var failure: BusFailure {
        switch self {
        case .unwritable(let failure), .lost(let failure): failure
        }
    }
}

/// A call on the bus that failed.
struct BusFailure: Error, Equatable {
    let call: String
    /// As errno(3) lists it.
    let code: Int32
}
