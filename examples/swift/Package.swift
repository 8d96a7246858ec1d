// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "countdown",
    dependencies: [
        // In another repository: .package(url: …) with the address of this one.
        .package(name: "countdownd", path: "../..")
    ],
    targets: [
        .executableTarget(name: "countdown", dependencies: [.product(name: "IPC", package: "countdownd")]),
        .executableTarget(name: "everyday", dependencies: [.product(name: "IPC", package: "countdownd")]),
        .executableTarget(
            name: "login",
            dependencies: [
                .product(name: "CountdownControls", package: "countdownd"),
                .product(name: "IPC", package: "countdownd"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
