/// A reply as a client receives it.
public struct Reply: Sendable {
    /// The number of the call that it answers, as ``ClientSession/call(_:more:oneway:_:)`` told it.
    public let call: Int
    /// The full name of the error, nil where the call succeeded.
    public let error: String?
    /// The result, or the parameters of the error; empty where the reply has none.
    public let parameters: JSONObject
    /// Whether further replies to the same call follow.
    public let continues: Bool
}
