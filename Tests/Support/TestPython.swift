import Foundation

/// The Python with packages from PyPI. `make acceptance` installs it; without it, tests that need it are
/// skipped.
public enum TestPython {
    /// Whether it is installed.
    public static let isAvailable = (try? path()) != nil

    /// Its path: `COUNTDOWND_TEST_PYTHON`, else the one that scripts/test-python makes.
    public static func path(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> String {
        let made = BuiltProduct.packageDirectory.appendingPathComponent(".build/test-python/bin/python3").path
        let path = environment["COUNTDOWND_TEST_PYTHON"] ?? made
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Missing(path: path) }
        return path
    }

    /// The Python is not installed.
    public struct Missing: Error, CustomStringConvertible {
        let path: String

        /// The command that installs it.
        public var description: String {
            "\(path) does not exist: run make acceptance, or set COUNTDOWND_TEST_PYTHON to a Python that has the packages"
                + " varlink, asyncvarlink and prometheus-client"
        }
    }
}
