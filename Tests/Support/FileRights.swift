import CProcess
import Glibc

/// Does something with no rights on files but those that their modes give: where root runs the tests, as nobody.
public func withRightsOfNobody<Result>(_ body: () throws -> Result) rethrows -> Result {
    let user = geteuid()
    if user == 0 { use_files_as(65_534) }
    defer { use_files_as(user) }
    return try body()
}
