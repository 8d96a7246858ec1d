import Foundation

/// The Python whose Varlink packages tests speak to.
public enum TestPython {
    /// Its path: `COUNTDOWND_TEST_PYTHON`, else the one that scripts/test-python makes.
    public static func path(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> String {
        let made = BuiltProduct.packageDirectory.appendingPathComponent(".build/test-python/bin/python3").path
        let path = environment["COUNTDOWND_TEST_PYTHON"] ?? made
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Missing(path: path) }
        return path
    }

    public struct Missing: Error, CustomStringConvertible {
        let path: String

        public var description: String {
            "\(path) is not there: run make test, which makes it, or name a Python that has the packages varlink and"
                + " asyncvarlink in COUNTDOWND_TEST_PYTHON"
        }
    }
}
