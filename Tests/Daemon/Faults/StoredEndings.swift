@testable import countdownd

/// The content of the store after its daemon has stopped.
enum StoredEndings {
    /// The revisions of all ends that are kept.
    static func read(_ directory: String) throws -> Set<Int64> {
        let database = try Database(path: "\(directory)/countdowns.db", busyMilliseconds: 0, trustingSchema: true)
        let rows = try database.prepare("SELECT revision FROM countdown WHERE state IN (2, 3)")
        var revisions: Set<Int64> = []
        while try rows.step(), let revision = rows.integer(0) { revisions.insert(revision) }
        return revisions
    }
}
