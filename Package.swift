// swift-tools-version: 6.2

import PackageDescription

// A switch, because a newer compiler may warn of more, and SwiftPM builds a dependency with its warnings suppressed,
// which the compiler refuses together with this.
let warningsAreErrors = Context.environment["COUNTDOWND_WARNINGS"] == "error"

let strict: [SwiftSetting] =
    [
        .strictMemorySafety(),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])

// A switch of the Makefile, because a static executable needs lld: gold, which is the default, warns of getpwnam and its kin in
// Foundation's part of the static library, which nothing here calls. See docs/decisions/0014.
let isStatic = Context.environment["COUNTDOWND_STATIC"] == "1"
let staticExecutable: [LinkerSetting] =
    isStatic ? [.unsafeFlags(["-static-executable", "-use-ld=lld", "-Xclang-linker", "-static-pie"])] : []

// Exact in our own builds, because lock files are not kept here; the Makefile and scripts/setup set the variable. A program that
// depends on a library of this package does not build countdownctl, so it may have another version.
let argumentParser: Package.Dependency =
    Context.environment["COUNTDOWND_EXACT"] == "1"
    ? .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")
    : .package(url: "https://github.com/apple/swift-argument-parser", from: "1.0.0")

let package = Package(
    name: "countdownd",
    products: [
        .library(name: "IPC", targets: ["IPC"]),
        .library(name: "CountdownControls", targets: ["CountdownControls"]),
        .library(name: "FleetWire", targets: ["FleetWire"]),
        .library(name: "Varlink", targets: ["Varlink"]),
        .library(name: "VarlinkDefinition", targets: ["VarlinkDefinition"]),
        .library(name: "System", targets: ["System"]),
        .library(name: "Text", targets: ["Text"]),
        .library(name: "RESP", targets: ["RESP"]),
        .executable(name: "countdownd", targets: ["countdownd"]),
        .executable(name: "countdownctl", targets: ["countdownctl"]),
        .executable(name: "countdown-notify", targets: ["countdown-notify"]),
        .executable(name: "varlink-generate", targets: ["varlink-generate"]),
    ],
    dependencies: [argumentParser],
    targets: [
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "Text", dependencies: ["CLinux"], swiftSettings: strict),
        .target(name: "System", dependencies: ["CLinux", "Text"], swiftSettings: strict),
        .target(name: "CountdownCore", swiftSettings: strict),
        .target(name: "CountdownControls", swiftSettings: strict),
        .target(name: "Varlink", swiftSettings: strict),
        .target(name: "VarlinkDefinition", swiftSettings: strict),
        .executableTarget(
            name: "varlink-generate",
            dependencies: ["System", "VarlinkDefinition"],
            swiftSettings: strict
        ),
        // Declared here and not in the package of the bridge, because tests speak it to the engine too.
        .target(name: "RESP", path: "FleetBridge/Sources/RESP", swiftSettings: strict),
        .target(name: "Fleet", dependencies: ["CountdownCore", "Varlink"], swiftSettings: strict),
        .target(
            name: "FleetWire",
            dependencies: ["Varlink"],
            exclude: ["io.countdownd.Backend.options"],
            resources: [.embedInCode("io.countdownd.Backend.varlink")],
            swiftSettings: strict
        ),
        .target(
            name: "IPC",
            dependencies: ["CountdownControls", "System", "Text", "Varlink"],
            exclude: ["io.countdownd.options"],
            resources: [.embedInCode("io.countdownd.varlink")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "countdownd",
            dependencies: [
                "CountdownCore", "Fleet", "FleetWire", "IPC", "System", "Text", "Varlink", "CLinux", "CSystemd",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "countdownctl",
            dependencies: [
                "CountdownControls",
                "IPC",
                "System",
                "Text",
                "Varlink",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: [.embedInCode("Arguments/completion.bash")],
            swiftSettings: strict,
            linkerSettings: staticExecutable
        ),
        .executableTarget(
            name: "countdown-notify",
            dependencies: ["IPC", "System", "Text", "Varlink", "CSystemd"],
            swiftSettings: strict
        ),
        .systemLibrary(name: "CProcess", path: "Tests/Support/CProcess"),
        .target(name: "JSONTree", dependencies: ["Varlink"], path: "Tests/Support/JSONTree", swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: ["CProcess", "IPC", "JSONTree", "System", "Varlink", "VarlinkDefinition"],
            path: "Tests/Support",
            exclude: ["CProcess", "JSONTree"]
        ),
        // The cases that every backend has to pass. It knows a socket and a controller of the engine, and no engine.
        .target(
            name: "BackendContract",
            dependencies: ["FleetWire", "System", "Varlink"],
            path: "Tests/Fleet/BackendContract",
            swiftSettings: strict
        ),
        .target(name: "ModelEngine", path: "Tests/Fleet/ModelEngine", swiftSettings: strict),
        // A bridge for tests, with an engine in memory and with faults.
        .target(
            name: "FakeBackend",
            dependencies: ["FleetWire", "CProcess", "ModelEngine", "System", "TestSupport", "Varlink"],
            path: "Tests/Fleet/FakeBackend",
            swiftSettings: strict
        ),
        // The module IPC behind the commands that clients/conformance gives to every client.
        .executableTarget(
            name: "client-driver",
            dependencies: ["IPC", "JSONTree", "System", "Varlink"],
            path: "Tests/Protocol/ClientDriver",
            swiftSettings: strict
        ),
        .systemLibrary(name: "CSearch", path: "Tests/Bench/Modules/CSearch"),
        .executableTarget(name: "countdown-load", dependencies: ["CLinux", "CSearch"], path: "Tests/Bench/Load"),
        // Tests/README.md says what is where. Trials start daemons, tests do not.
        .testTarget(
            name: "CoreTests",
            dependencies: ["CountdownControls", "CountdownCore", "TestSupport"],
            path: "Tests/Core",
            exclude: ["Controls/Cases"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ProtocolTests",
            dependencies: [
                "FleetWire", "IPC", "JSONTree", "System", "TestSupport", "Varlink", "VarlinkDefinition",
                "varlink-generate",
            ],
            path: "Tests/Protocol",
            exclude: ["ClientDriver", "Generator/Definitions", "version-1.varlink"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "countdownd", "CountdownCore", "Fleet", "FleetWire", "IPC", "JSONTree", "System", "Text", "Varlink",
                "TestSupport",
            ],
            path: "Tests/Daemon/InProcess",
            swiftSettings: strict
        ),
        .testTarget(
            name: "DaemonTrials",
            dependencies: [
                "CountdownCore", "IPC", "JSONTree", "TestSupport", "Varlink", "countdown-load",
            ],
            path: "Tests/Daemon/Started",
            swiftSettings: strict
        ),
        .testTarget(
            name: "FaultTrials",
            dependencies: ["CProcess", "countdownd", "IPC", "System", "TestSupport"],
            path: "Tests/Daemon/Faults",
            exclude: ["Shim"]
        ),
        .testTarget(
            name: "ModelTrials",
            dependencies: ["TestSupport"],
            path: "Tests/Daemon/Model",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ProgramTests",
            dependencies: [
                "countdownctl", "countdown-notify", "CountdownControls", "IPC", "System", "Text", "TestSupport",
                "Varlink",
            ],
            path: "Tests/Programs/InProcess",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ProgramTrials",
            dependencies: ["IPC", "JSONTree", "TestSupport", "Varlink", "VarlinkDefinition"],
            path: "Tests/Programs/Started",
            exclude: ["Examples/Bars", "Examples/Clients", "Examples/Quickshell", "Examples/Undo"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NotifyTrials",
            dependencies: ["countdown-notify", "IPC", "System", "TestSupport", "Varlink"],
            path: "Tests/Programs/Desktop",
            exclude: ["notifications.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "FleetTests",
            dependencies: [
                "FleetWire", "BackendContract", "CountdownCore", "FakeBackend", "Fleet", "ModelEngine", "RESP",
                "TestSupport", "Varlink", "VarlinkDefinition",
            ],
            path: "Tests/Fleet/InProcess",
            swiftSettings: strict
        ),
        .testTarget(
            name: "FleetTrials",
            dependencies: ["FleetWire", "FakeBackend", "IPC", "ModelEngine", "TestSupport", "Varlink"],
            path: "Tests/Fleet/Started",
            swiftSettings: strict
        ),
        // They start redis-server, and the bridge that `make build-fleet` has made.
        .testTarget(
            name: "RedisTrials",
            dependencies: ["FleetWire", "BackendContract", "IPC", "RESP", "TestSupport"],
            path: "Tests/Fleet/Redis",
            exclude: ["Support/Shim"]
        ),
        .testTarget(
            name: "SystemTests",
            dependencies: ["System", "Text", "TestSupport"],
            path: "Tests/System",
            exclude: ["Clock", "Manager"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ManagerTrials",
            dependencies: ["IPC", "TestSupport"],
            path: "Tests/System/Manager",
            exclude: ["Machine"]
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "countdownd", "countdownctl", "CountdownCore", "Fleet", "IPC", "JSONTree", "RESP", "System", "Text",
                "Varlink",
            ],
            path: "Tests/Fuzz",
            exclude: ["Corpus", "Modules", "Targets", "Seeds", "message.dict", "Package.swift"],
            sources: ["Harness", "Replay"]
        ),
    ],
    swiftLanguageModes: [.v6]
)
