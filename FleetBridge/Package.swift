// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "FleetBridge",
    products: [
        .executable(name: "countdownd-redis", targets: ["countdownd-redis"])
    ],
    dependencies: [
        .package(name: "countdownd", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    ],
    targets: [
        .target(
            name: "FleetBridge",
            dependencies: [
                .product(name: "FleetWire", package: "countdownd"),
                .product(name: "RESP", package: "countdownd"),
                .product(name: "System", package: "countdownd"),
                .product(name: "Text", package: "countdownd"),
                .product(name: "Varlink", package: "countdownd"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            resources: [.embedInCode("propose.lua")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "countdownd-redis",
            dependencies: [
                "FleetBridge", .product(name: "System", package: "countdownd"),
                .product(name: "Text", package: "countdownd"),
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
