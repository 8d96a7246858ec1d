import CProcess
import Glibc

/// How wide characters are on terminals that ask the C library.
public enum TerminalWidth {
    /// The columns of each character by wcwidth(3) in a locale with UTF-8; less than 0 for those that it does not know.
    public static func columns(of scalars: [Unicode.Scalar]) throws -> [Int] {
        // LC_CTYPE_MASK is a macro that Swift does not see.
        guard let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil) else { throw SystemCallFailure("newlocale") }
        let before = uselocale(locale)
        defer {
            uselocale(before)
            freelocale(locale)
        }
        return scalars.map { Int(wcwidth(wchar_t($0.value))) }
    }
}
