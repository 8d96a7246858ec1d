import CProcess
import Dispatch
import TestSupport
import Testing

/// The sanitizers find faults in Swift code and in C code.
@Suite("Sanitizers")
struct SanitizersTests {
    @Test("a read behind an allocation ends the process", .enabled(if: Sanitizers.watchAddresses))
    func address() async {
        await #expect(processExitsWith: .failure) {
            let numbers = UnsafeMutablePointer<Int32>.allocate(capacity: 4)
            numbers.initialize(repeating: 0, count: 4)
            print(numbers[4])
        }
    }

    @Test("a read behind an allocation in C code ends the process", .enabled(if: Sanitizers.watchAddresses))
    func addressInC() async {
        await #expect(processExitsWith: .failure) {
            let numbers = UnsafeMutablePointer<Int32>.allocate(capacity: 4)
            numbers.initialize(repeating: 0, count: 4)
            print(read_behind(numbers, 4))
        }
    }

    @Test(
        "an overflow of a sum in C code ends the process",
        .enabled(if: Sanitizers.watchUndefinedBehavior)
    )
    func undefined() async {
        await #expect(processExitsWith: .failure) { print(add_without_care(.max, Int32(CommandLine.arguments.count))) }
    }

    @Test("two threads that write to the same memory end the process", .enabled(if: Sanitizers.watchThreads))
    func threads() async {
        await #expect(processExitsWith: .failure) {
            let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
            number.initialize(to: 0)
            let address = UInt(bitPattern: number)
            DispatchQueue.concurrentPerform(iterations: 1_000) { _ in
                UnsafeMutablePointer<Int>(bitPattern: address)?.pointee += 1
            }
            print(number.pointee)
        }
    }
}
