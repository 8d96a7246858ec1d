// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "countdown",
    dependencies: [
        // Elsewhere: .package(url: …) with this repository's address.
        .package(name: "countdownd", path: "../..")
    ],
    targets: [
        .executableTarget(name: "countdown", dependencies: [.product(name: "IPC", package: "countdownd")])
    ],
    swiftLanguageModes: [.v6]
)
