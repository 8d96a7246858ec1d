package import Varlink

/// A method that changes the state of the countdown under a key, if it has the given revision.
package protocol ChangeMethod: Method where Reply == CountdownReply {
    /// The key of the countdown.
    var key: String { get }
    /// The revision that it must have; nil for any.
    var ifRevision: Int64? { get }

    /// A call for a key.
    init(key: String, ifRevision: Int64?)
}

extension Cancel: ChangeMethod {}
extension Finish: ChangeMethod {}
extension Pause: ChangeMethod {}
extension Resume: ChangeMethod {}
