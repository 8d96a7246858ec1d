/// Who may import what.
enum ImportRules {
    /// The modules that each target may import.
    static let allowed: [String: Set<String>] = [
        "CountdownCore": [],
        "System": ["Glibc"],
        "Varlink": ["Glibc"],
        "IPC": ["Varlink", "Dispatch", "Glibc"],
        "countdownd": [
            "CountdownCore", "IPC", "System", "Varlink", "CLinux", "CSQLite", "CSystemd", "Dispatch", "Glibc",
            "Synchronization",
        ],
        "countdownctl": ["IPC", "System", "Varlink", "ArgumentParser", "CLinux", "Glibc"],
        "countdown-notify": ["IPC", "System", "Varlink", "CLinux", "CSystemd", "Glibc"],
    ]

    /// The files that know both what countdowns do and how they are told.
    static let translation: Set<String> = ["Translation.swift", "Translation+Replies.swift"]

    static func strangers(in file: SourceFile) -> [Violation] {
        file.violations { line in
            guard let module = module(importedBy: line) else { return nil }
            guard let allowed = allowed[file.target] else { return "a target without a row in the table of imports" }
            return allowed.contains(module) ? nil : "\(file.target) may not import \(module)"
        }
    }

    static func meetings(in file: SourceFile) -> [Violation] {
        let modules = Set(file.code.compactMap(module(importedBy:)))
        guard modules.isSuperset(of: ["CountdownCore", "IPC"]), !translation.contains(String(file.name)) else {
            return []
        }
        return [Violation(path: file.path, line: 1, what: "only the translation imports CountdownCore and IPC")]
    }

    /// The module that a line imports, be it whole or one declaration of it.
    static func module(importedBy line: Substring) -> String? {
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"), place + 1 < words.count else { return nil }
        let modifiers: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
        guard words[..<place].allSatisfy({ $0.hasPrefix("@") || modifiers.contains($0) }) else { return nil }
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        let name = kinds.contains(words[place + 1]) ? words.dropFirst(place + 2).first : words[place + 1]
        return name?.split(separator: ".").first.map(String.init)
    }
}
