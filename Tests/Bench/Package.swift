// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Bench",
    targets: [
        .systemLibrary(name: "CLinux", path: "Modules/CLinux"),
        .systemLibrary(name: "CSearch", path: "Modules/CSearch"),
        .executableTarget(name: "countdown-load", dependencies: ["CLinux", "CSearch"], path: "Load"),
    ],
    swiftLanguageModes: [.v6]
)
