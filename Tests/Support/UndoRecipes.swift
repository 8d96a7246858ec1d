import Foundation

/// The recipes of docs/temporarily.md.
public enum UndoRecipes {
    /// The commands of each recipe by its name.
    public static func read() throws -> [String: String] {
        let blocks = try BuiltProduct.text(of: "docs/temporarily.md").matches(
            of: #/<!-- UndoRecipes: ([a-z]+) -->\n```sh\n((?s).*?)```/#
        )
        return Dictionary(blocks.map { (String($0.1), String($0.2)) }) { first, _ in first }
    }
}
