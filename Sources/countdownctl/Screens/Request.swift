import IPC

/// A call of the daemon that a screen asks for; its answer is a countdown.
enum Request: Equatable {
    case get(key: String)
    case start(Start)
    case pause(key: String)
    case resume(key: String)
    case cancel(key: String)
    /// Adds microseconds, or takes them.
    case adjust(key: String, by: Int64)

    var key: String {
        switch self {
        case .get(let key), .pause(let key), .resume(let key), .cancel(let key), .adjust(let key, _): key
        case .start(let start): start.key
        }
    }
}
