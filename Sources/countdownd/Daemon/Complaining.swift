import CountdownCore
import Varlink

/// What is logged of peers: never so much that they could fill a disk.
extension Daemon {
    func complain(
        _ kind: Complaints.Kind,
        _ message: String,
        fields: KeyValuePairs<String, String> = [:],
        at now: Now
    ) {
        complaints.write(kind, message, fields: fields, to: log, at: now.boot)
    }

    func complain(about violation: ProtocolViolation, at now: Now) {
        switch violation {
        case .messageTooLong(let limit):
            complain(.messageTooLong, "disconnecting a peer whose message has more than \(limit) bytes", at: now)
        default:
            complain(.brokenProtocol, "disconnecting a peer that broke the protocol: \(violation)", at: now)
        }
    }
}
