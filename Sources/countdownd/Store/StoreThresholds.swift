/// When a log is replaced by a base. Tests use smaller values.
struct StoreThresholds {
    /// The next turn begins a new segment.
    var segmentBytes: Int64 = 16 << 20
    /// Dead lines of so many bytes are no reason to write a base.
    var tolerated: Int64 = 16 << 20
    /// More segments are a reason.
    var segments = 32
    /// More boots that lines refer to are a reason, because each state line has all of them.
    var boots = 64
    /// A base is synced whenever it has grown by so much.
    var bytesBetweenSyncs: Int64 = 4 << 20
}
