import Glibc

extension DatabaseFiles {
    /// Reads all that is there, to know that the disk gives it.
    func readThrough() throws(Obstacle) {
        let files = linkFollowed
        for path in [files.path, files.path(of: .log), files.path(of: .journal)] {
            guard try status(of: path, followingLinks: true) != nil else { continue }
            do throws(SystemFailure) {
                try Self.readThrough(path)
            } catch {
                throw .unavailable(StoreFailure(error, of: path))
            }
        }
    }

    private static func readThrough(_ path: String) throws(SystemFailure) {
        let file = try Descriptor(owning: unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), of: "open")
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var count = 1
        while count > 0 { count = unsafe read(file.number, &bytes, bytes.count) }
        guard count == 0 else { throw SystemFailure("read") }
    }
}
