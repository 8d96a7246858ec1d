import Foundation

/// The recipes of docs/temporarily.md.
public enum UndoRecipes {
    /// The commands of each recipe by its name.
    public static func read() throws -> [String: String] {
        let page = BuiltProduct.packageDirectory.appendingPathComponent("docs/temporarily.md")
        let blocks = try String(contentsOf: page, encoding: .utf8).matches(
            of: #/<!-- UndoRecipes: ([a-z]+) -->\n```sh\n((?s).*?)```/#
        )
        return Dictionary(blocks.map { (String($0.1), String($0.2)) }) { first, _ in first }
    }
}
