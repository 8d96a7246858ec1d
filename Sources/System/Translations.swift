import CLinux
import Glibc

/// The translations of a program's texts, as gettext(3) finds them: the environment names the locale, and a folder has a
/// file for each language, such as `de/LC_MESSAGES/NAME.mo`. Everything else that the process prints stays in English.
@safe
public final class Translations {
    private let domain: String
    /// The locale; nil if the system does not have it.
    private let locale: UnsafeMutableRawPointer?

    /// The translations of a domain, which is the name of the files without `.mo`, in a folder of languages.
    public init(domain: String, folder: String) {
        self.domain = domain
        let isBound = unsafe linux_bind_translations(domain, folder) == 0
        unsafe locale = isBound ? linux_message_locale() : nil
    }

    /// The translation of a text, or the text itself if it has no translation.
    public func translation(of text: String) -> String {
        guard let locale = unsafe locale else { return text }
        return unsafe text.withCString { text in
            unsafe String(cString: linux_translate(locale, domain, text, nil, 0))
        }
    }

    /// The translation of a text that depends on a number, which is at least 0.
    public func translation(of singular: String, plural: String, number: Int) -> String {
        guard let locale = unsafe locale else { return number == 1 ? singular : plural }
        return unsafe singular.withCString { singular in
            unsafe plural.withCString { plural in
                unsafe String(cString: linux_translate(locale, domain, singular, plural, UInt(max(0, number))))
            }
        }
    }

    /// The message of an error number, see errno(3).
    public func systemMessage(_ code: Int32) -> String {
        guard let locale = unsafe locale else { return System.systemMessage(code) }
        return unsafe String(cString: linux_error_message(locale, code))
    }

    /// The folder of the languages of a program that was installed in `PREFIX/bin`, or of one in the folder that it was
    /// built in; nil if neither exists.
    public static func folder() -> String? {
        guard let program = (try? FileStatus.linkTarget("/proc/self/exe")) ?? nil,
            let slash = program.lastIndex(of: "/")
        else { return nil }
        let folders = ["../share/locale", "share/locale"].map { "\(program[..<slash])/\($0)" }
        return folders.first { unsafe access($0, R_OK) == 0 }
    }
}
