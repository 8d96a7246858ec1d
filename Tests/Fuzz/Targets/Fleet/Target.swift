import Harness

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FleetHarness.run(UnsafeBufferPointer(start: bytes, count: count))
    return 0
}
