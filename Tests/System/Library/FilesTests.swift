import Testing

@testable import System
@testable import Text

@Suite("Files and text of the system")
struct FilesTests {
    @Test("the status of a file is read through symbolic links")
    func fileStatus() throws {
        #expect(try FileStatus.read("/proc/self/cwd/").isDirectory)
        #expect(try FileStatus.read("/dev/null") == FileStatus(isDirectory: false, owner: 0, mode: 0o666))
        #expect(throws: SystemFailure("stat", code: 2)) { try FileStatus.read("/nonexistent") }
    }

    @Test("a failed call is described with its name and the error")
    func failures() {
        #expect(SystemFailure("connect", code: 111).description == "connect: Connection refused")
    }

    @Test("markup is written as entities, quotation marks only if asked for")
    func markup() {
        #expect(Markup.escape("<a href='x'>\"&\"") == "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;")
        #expect(Markup.escape("<'&\">", quotes: false) == "&lt;'&amp;\"&gt;")
    }
}
