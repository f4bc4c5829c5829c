// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that packages that depend on the library don't get the gateway's dependencies.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: Context.environment["BLUETOOTH_WARNINGS_AS_ERRORS"] == nil ? .warning : .error),
]

func library(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "swift-bluetooth-le") }
}

let package = Package(
    name: "ble-gateway",
    products: [
        .executable(name: "ble-gateway", targets: ["ble-gateway"]),
        // For the fuzzer, which is a separate package.
        .library(name: "GatewayESPHome", targets: ["GatewayESPHome"]),
        .library(
            name: "GatewayService", targets: ["GatewayService", "GatewayPipeline", "GatewayConfiguration"]),
    ],
    dependencies: [
        .package(name: "swift-bluetooth-le", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        // The processing of advertisements, as pure values: no clock, no socket, no task.
        .target(
            name: "GatewayPipeline",
            dependencies: library("BluetoothLayers", "BluetoothValues"),
            swiftSettings: settings),
        // The configuration file.
        .target(
            name: "GatewayConfiguration",
            dependencies: ["GatewayPipeline", .product(name: "Yams", package: "Yams")] + library("BluetoothLayers"),
            swiftSettings: settings),
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        // The connection to the broker, and the spool on disk for messages that must not be lost.
        .target(
            name: "GatewayMQTT",
            dependencies: [
                "GatewayPipeline", "GatewayConfiguration", "CMosquitto",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // ESPHome's native API, as a Bluetooth proxy speaks it: frames, Noise, messages, and one session per client.
        .target(
            name: "GatewayESPHome",
            dependencies: [
                "GatewayPipeline", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ] + library("BluetoothLE", "BluetoothLayers"),
            exclude: ["Messages/api.proto"], swiftSettings: settings),
        // Adapters, pipeline and sinks as one service.
        .target(
            name: "GatewayService",
            dependencies: [
                "GatewayPipeline", "GatewayConfiguration", "GatewayESPHome", "GatewayMQTT",
                .product(name: "Logging", package: "swift-log"), .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ] + library("BluetoothLE", "BluetoothLayers", "BluetoothValues", "HCITransport"),
            swiftSettings: settings),
        .executableTarget(
            name: "ble-gateway",
            dependencies: [
                "GatewayService", "GatewayPipeline", "GatewayConfiguration", "GatewayMQTT",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "GatewayPipelineTests",
            dependencies: ["GatewayPipeline"] + library("BluetoothLayers", "BluetoothValues"),
            swiftSettings: settings),
        .testTarget(
            name: "GatewayConfigurationTests", dependencies: ["GatewayConfiguration", "GatewayPipeline"],
            swiftSettings: settings),
        .testTarget(
            name: "GatewayESPHomeTests",
            dependencies: [
                "GatewayESPHome", "GatewayPipeline", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ] + library("BluetoothLE", "BluetoothLayers"), swiftSettings: settings),
        .testTarget(
            name: "GatewayServiceTests",
            dependencies: [
                "GatewayService", "GatewayPipeline", "GatewayESPHome", "GatewayMQTT",
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ] + library("BluetoothLE", "BluetoothLayers", "VirtualRadio"), swiftSettings: settings),
        .testTarget(
            name: "GatewayMQTTTests",
            dependencies: [
                "GatewayMQTT", "GatewayConfiguration", "GatewayPipeline",
                .product(name: "GRDB", package: "GRDB.swift"),
            ], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
