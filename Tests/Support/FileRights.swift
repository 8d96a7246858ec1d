import CProcess
import Glibc

/// Runs a closure with the rights that the modes of files give: if root runs the tests, as the user nobody.
public func withRightsOfNobody<Result>(_ body: () throws -> Result) rethrows -> Result {
    let user = geteuid()
    if user == 0 { use_files_as(65_534) }
    defer { use_files_as(user) }
    return try body()
}

/// Lets other users reach a socket in a directory that is private otherwise.
public func letAll(into directory: TemporaryDirectory, connectTo socket: String) throws {
    for (path, mode) in [(directory.path, 0o711 as mode_t), (socket, 0o666)] {
        guard chmod(path, mode) == 0 else { throw SystemCallFailure("chmod of \(path)") }
    }
}
