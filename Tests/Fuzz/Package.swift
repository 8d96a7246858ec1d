// swift-tools-version: 6.2

import PackageDescription

// The modules under test, compiled anew from the project's own files with what libFuzzer needs to see where an input
// leads. The two executables are libraries here, without the file that has their entry point.
let harnesses = ["Clock", "Fleet", "Framer", "JSON", "Message", "RESP", "Session", "Store", "Timetable"]

let package = Package(
    name: "Fuzz",
    targets: [
        .systemLibrary(name: "CSystemd", path: "Modules/CSystemd", pkgConfig: "libsystemd"),
        .systemLibrary(name: "CLinux", path: "Modules/CLinux"),
        .target(name: "Text", dependencies: ["CLinux"], path: "Modules/Text"),
        .target(name: "System", dependencies: ["CLinux", "Text"], path: "Modules/System"),
        .target(name: "CountdownControls", path: "Modules/CountdownControls"),
        .target(name: "CountdownCore", path: "Modules/CountdownCore"),
        .target(name: "Varlink", path: "Modules/Varlink"),
        .target(name: "RESP", path: "Modules/RESP"),
        .target(name: "Fleet", dependencies: ["CountdownCore", "Varlink"], path: "Modules/Fleet"),
        .target(
            name: "FleetWire",
            dependencies: ["Varlink"],
            path: "Modules/FleetWire",
            exclude: ["io.countdownd.Backend.options"],
            resources: [.embedInCode("io.countdownd.Backend.varlink")]
        ),
        .target(name: "JSONTree", dependencies: ["Varlink"], path: "Modules/JSONTree"),
        .target(
            name: "IPC",
            dependencies: ["CountdownControls", "System", "Text", "Varlink"],
            path: "Modules/IPC",
            exclude: ["io.countdownd.options"],
            resources: [.embedInCode("io.countdownd.varlink")]
        ),
        .target(
            name: "countdownd",
            dependencies: [
                "CountdownCore", "Fleet", "FleetWire", "IPC", "System", "Text", "Varlink", "CLinux", "CSystemd",
            ],
            path: "Modules/countdownd",
            exclude: ["Countdownd.swift"]
        ),
        .target(name: "countdownctl", dependencies: ["IPC", "System", "Text"], path: "Modules/countdownctl"),
        .target(
            name: "Harness",
            dependencies: [
                "CountdownCore", "Fleet", "JSONTree", "RESP", "System", "Text", "Varlink", "IPC", "countdownd",
                "countdownctl",
            ],
            path: "Harness"
        ),
    ]
        + harnesses.map {
            .executableTarget(name: "fuzz-\($0.lowercased())", dependencies: ["Harness"], path: "Targets/\($0)")
        },
    swiftLanguageModes: [.v6]
)
