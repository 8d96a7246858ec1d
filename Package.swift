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

let package = Package(
    name: "countdownd",
    products: [
        .library(name: "IPC", targets: ["IPC"]),
        .library(name: "CountdownControls", targets: ["CountdownControls"]),
        .library(name: "FleetWire", targets: ["FleetWire"]),
        .library(name: "Varlink", targets: ["Varlink"]),
        .library(name: "System", targets: ["System"]),
        .library(name: "RESP", targets: ["RESP"]),
        .executable(name: "countdownd", targets: ["countdownd"]),
        .executable(name: "countdownctl", targets: ["countdownctl"]),
        .executable(name: "countdown-notify", targets: ["countdown-notify"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")
    ],
    targets: [
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "System", dependencies: ["CLinux"], swiftSettings: strict),
        .target(name: "CountdownCore", swiftSettings: strict),
        .target(name: "CountdownControls", swiftSettings: strict),
        .target(name: "Varlink", swiftSettings: strict),
        // Declared here and not in the package of the bridge, because tests speak it to the engine too.
        .target(name: "RESP", path: "FleetBridge/Sources/RESP", swiftSettings: strict),
        .target(name: "Fleet", dependencies: ["CountdownCore", "Varlink"], swiftSettings: strict),
        .target(
            name: "FleetWire",
            dependencies: ["Varlink"],
            resources: [.embedInCode("io.countdownd.Backend.varlink")],
            swiftSettings: strict
        ),
        .target(
            name: "IPC",
            dependencies: ["System", "Varlink"],
            resources: [.embedInCode("io.countdownd.varlink")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "countdownd",
            dependencies: [
                "CountdownCore", "Fleet", "FleetWire", "IPC", "System", "Varlink", "CLinux", "CSQLite", "CSystemd",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "countdownctl",
            dependencies: [
                "CountdownControls",
                "IPC",
                "System",
                "Varlink",
                "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict,
            linkerSettings: staticExecutable
        ),
        .executableTarget(
            name: "countdown-notify",
            dependencies: ["IPC", "System", "Varlink", "CSystemd"],
            swiftSettings: strict
        ),
        .systemLibrary(name: "CProcess", path: "Tests/CProcess"),
        .target(name: "JSONTree", dependencies: ["Varlink"], path: "Tests/JSONTree", swiftSettings: strict),
        .target(name: "TestSupport", dependencies: ["CProcess", "IPC", "JSONTree", "System", "Varlink"], path: "Tests/Support"),
        // The cases that every backend has to pass. It knows a socket and a controller of the engine, and no engine.
        .target(
            name: "BackendContract",
            dependencies: ["FleetWire", "System", "Varlink"],
            path: "Tests/BackendContract",
            swiftSettings: strict
        ),
        .target(name: "ModelEngine", path: "Tests/ModelEngine", swiftSettings: strict),
        // A bridge for tests, with an engine in memory and with faults.
        .target(
            name: "FakeBackend",
            dependencies: ["CProcess", "FleetWire", "ModelEngine", "System", "TestSupport", "Varlink"],
            path: "Tests/FakeBackend",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "varlink-certification",
            dependencies: ["JSONTree", "Varlink"],
            path: "Tests/Certification",
            swiftSettings: strict
        ),
        // The module IPC behind the commands that clients/conformance gives to every client.
        .executableTarget(
            name: "client-driver",
            dependencies: ["IPC", "JSONTree", "System", "Varlink"],
            path: "Tests/ClientDriver",
            swiftSettings: strict
        ),
        .systemLibrary(name: "CSearch", path: "Bench/Modules/CSearch"),
        .executableTarget(name: "countdown-load", dependencies: ["CLinux", "CSearch"], path: "Bench/Load"),
        .testTarget(name: "HouseTests", dependencies: ["TestSupport"]),
        .testTarget(name: "SupportTests", dependencies: ["CProcess", "TestSupport"]),
        .testTarget(name: "SystemTests", dependencies: ["System", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "CountdownCoreTests", dependencies: ["CountdownCore", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "FleetTests",
            dependencies: ["CountdownCore", "Fleet", "ModelEngine", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "BackendTests",
            dependencies: ["BackendContract", "FakeBackend", "FleetWire", "TestSupport", "Varlink"],
            swiftSettings: strict
        ),
        // The processes of these two: the bridge that `make build-fleet` has made, and redis-server.
        .target(name: "RedisSupport", dependencies: ["CProcess", "RESP", "TestSupport"], path: "Tests/RedisSupport"),
        .testTarget(name: "FleetTrials", dependencies: ["IPC", "RedisSupport", "TestSupport"]),
        .testTarget(
            name: "RedisBridgeTests",
            dependencies: ["BackendContract", "FleetWire", "RedisSupport", "TestSupport"]
        ),
        .testTarget(name: "VarlinkTests", dependencies: ["JSONTree", "TestSupport", "Varlink"], swiftSettings: strict),
        .testTarget(name: "RESPTests", dependencies: ["RESP", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "CertificationTests", dependencies: ["TestSupport", "varlink-certification"]),
        .testTarget(
            name: "IPCTests",
            dependencies: ["IPC", "System", "Varlink", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CountdownControlsTests",
            dependencies: ["CountdownControls", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CountdownctlTests",
            dependencies: ["countdownctl", "CountdownControls", "IPC", "System", "Varlink", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CountdowndTests",
            dependencies: [
                "countdownd", "CountdownCore", "Fleet", "FleetWire", "IPC", "System", "Varlink", "TestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "countdownd", "countdownctl", "CountdownCore", "Fleet", "IPC", "JSONTree", "RESP", "System", "Varlink",
            ],
            path: "Fuzz",
            exclude: ["Modules", "Targets", "Seeds", "message.dict", "Package.swift"],
            sources: ["Harness", "Replay"]
        ),
        .testTarget(name: "ScreenTests", dependencies: ["TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: ["JSONTree", "CountdownCore", "IPC", "Varlink", "TestSupport", "CSQLite"],
            exclude: ["Bars", "Clients"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SharedTests",
            dependencies: ["FakeBackend", "FleetWire", "IPC", "ModelEngine", "TestSupport", "Varlink"],
            swiftSettings: strict
        ),
        .testTarget(name: "ModelTests", dependencies: ["TestSupport"], swiftSettings: strict),
        .testTarget(name: "LoadTests", dependencies: ["TestSupport", "countdown-load"]),
        .testTarget(
            name: "CountdownNotifyTests",
            dependencies: ["countdown-notify", "IPC", "System", "TestSupport", "Varlink"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NotifyTrials",
            dependencies: ["countdown-notify", "IPC", "System", "TestSupport", "Varlink"],
            exclude: ["Desktop"],
            swiftSettings: strict
        ),
        .testTarget(name: "ManagerTests", dependencies: ["IPC", "TestSupport"], exclude: ["Machine"]),
        .testTarget(
            name: "CrashTests",
            dependencies: ["countdownd", "IPC", "System", "TestSupport"],
            exclude: ["Shim"]
        ),
    ],
    swiftLanguageModes: [.v6]
)
