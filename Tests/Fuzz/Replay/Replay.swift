import Foundation

/// Runs the kept inputs, and mutations of them.
enum Replay {
    private static let mutations = 40

    static func run<Tried: Harness>(_ harness: Tried.Type, _ name: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = try ["Seeds", "Crashers"].flatMap { try inputs(in: folder.appending(path: "\($0)/\(name)")) }
        guard !files.isEmpty else { throw CocoaError(.fileNoSuchFile) }
        var generator = Steps(state: 1)
        for bytes in files {
            harness.run(bytes)
            for _ in 0..<mutations { harness.run(mutated(bytes, using: &generator)) }
        }
    }

    private static func inputs(in folder: URL) throws -> [[UInt8]] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
            .map { Array(try Data(contentsOf: $0)) }
    }

    private static func mutated(_ bytes: [UInt8], using generator: inout Steps) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let position = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[position] = .random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: position)
            default: bytes.insert(.random(in: 0...255, using: &generator), at: position)
            }
        }
        return bytes
    }

    /// A generator of the same numbers in each run: the upper halves of the numbers of Knuth's MMIX generator.
    private struct Steps: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            (0..<2).reduce(0) { number, _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return number << 32 | state >> 32
            }
        }
    }
}

extension Harness {
    fileprivate static func run(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { run($0) }
    }
}
