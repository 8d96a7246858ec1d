import CountdownControls
import Foundation
import TestSupport
import Testing

/// The cases in Tests/Core/Controls/Cases, which the web components of examples/web pass too.
@Suite("The cases that the controls share with the web components")
struct SharedCasesTests {
    private struct Table<Case: Decodable>: Decodable {
        let cases: [Case]
    }

    private static func cases<Case: Decodable>(_ name: String) -> Result<[Case], any Error> {
        let file = BuiltProduct.packageDirectory.appendingPathComponent("Tests/Core/Controls/Cases/\(name).json")
        return Result { try JSONDecoder().decode(Table<Case>.self, from: Data(contentsOf: file)).cases }
    }

    struct ButtonCase: Decodable {
        struct Titles: Decodable {
            var idle, sending, counting, again: String?
        }

        struct Step: Decodable {
            var press, succeed, fail: Bool?
            var count, wait: Int?
            var titles: Titles?
            var state, title: String?
        }

        let name: String
        let titles: Titles
        let steps: [Step]
    }

    struct FieldCase: Decodable {
        struct Step: Decodable {
            var type, paste, fill: String?
            var backspace, length, spacing: Int?
            let boxes: String
            var full: String?
        }

        let name: String
        var length: Int?
        let steps: [Step]
    }

    /// A program with a button, which redraws the title after an event, and when the button says that it changes.
    private struct ButtonProgram {
        var now = Duration.seconds(1_000)
        var button = CountdownButton()
        var title = ""

        mutating func set(_ titles: ButtonCase.Titles) {
            if let idle = titles.idle { button.titles.idle = idle }
            if let sending = titles.sending { button.titles.sending = sending }
            if let counting = titles.counting { button.titles.counting = RemainingText(counting) }
            if let again = titles.again { button.titles.again = again }
            title = button.title(at: now)
        }

        mutating func wait(milliseconds: Int) {
            let end = now + .milliseconds(milliseconds)
            while let change = button.nextChange(after: now), now + change <= end {
                now += change
                title = button.title(at: now)
            }
            now = end
        }

        mutating func take(_ step: ButtonCase.Step) -> Bool? {
            if let wait = step.wait {
                self.wait(milliseconds: wait)
                return nil
            }
            let isSent = step.press == nil ? nil : button.press(at: now)
            if step.succeed != nil { button.succeed() }
            if step.fail != nil { button.fail() }
            if let count = step.count { button.count(.milliseconds(count), at: now) }
            if let titles = step.titles { set(titles) }
            title = button.title(at: now)
            return isSent
        }
    }

    @Test("each case of the button")
    func button() throws {
        let cases: [ButtonCase] = try Self.cases("button").get()
        #expect(cases.count > 10)
        for one in cases {
            var program = ButtonProgram()
            program.set(one.titles)
            for (number, step) in one.steps.enumerated() {
                let place: Comment = "\(one.name): step \(number + 1)"
                let isSent = program.take(step)
                #expect(isSent == step.press, place)
                if let state = step.state { #expect(program.button.state(at: program.now).rawValue == state, place) }
                if let title = step.title { #expect(program.title == title, place) }
                #expect(program.title == program.button.title(at: program.now), place)
            }
        }
    }

    @Test("each case of the field for a code")
    func field() throws {
        let cases: [FieldCase] = try Self.cases("code-field").get()
        #expect(cases.count > 10)
        for one in cases {
            var field = CodeField(length: one.length ?? 4)
            for (number, step) in one.steps.enumerated() {
                let place: Comment = "\(one.name): step \(number + 1)"
                var full: String?
                for character in step.type ?? "" { full = field.type(character) }
                if let text = step.paste { full = field.paste(text) }
                if let text = step.fill {
                    field.clear()
                    full = field.paste(text)
                }
                for _ in 0..<(step.backspace ?? 0) { field.deleteBackward() }
                if let length = step.length { field.length = length }
                if let spacing = step.spacing { field.spacing = spacing }
                #expect(String(field.characters) == step.boxes, place)
                #expect(full == step.full, place)
                #expect(field.cursor == (step.boxes.count < field.length ? step.boxes.count : nil), place)
            }
        }
    }
}
