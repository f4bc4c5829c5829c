// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that packages that depend on the library don't need libsystemd.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: Context.environment["BLUETOOTH_WARNINGS_AS_ERRORS"] == nil ? .warning : .error),
]

func library(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "swift-bluetooth-le") }
}

let package = Package(
    name: "ble-bus",
    products: [
        .executable(name: "ble-bus", targets: ["ble-bus"]),
        // For the fuzzer, which is a separate package.
        .library(name: "BusService", targets: ["BusService", "DBus", "BusObjects"]),
    ],
    dependencies: [
        .package(name: "swift-bluetooth-le", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    ],
    targets: [
        // sd-bus, epoll and their relatives, which Swift's modules of the C library lack.
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        // The wire: messages, values, one connection to a bus, and the loop that waits for it.
        .target(name: "DBus", dependencies: ["CSystemd"], swiftSettings: settings),
        // The objects on the bus: interfaces declared once, for the calls, the properties and their description.
        .target(name: "BusObjects", dependencies: ["DBus"], swiftSettings: settings),
        // org.bluez, on the seam of one adapter.
        .target(
            name: "BusService", dependencies: ["DBus", "BusObjects"] + library("BluetoothLayers", "HCITransport"),
            swiftSettings: settings),
        .executableTarget(
            name: "ble-bus",
            dependencies: [
                "BusService", "DBus", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ] + library("BluetoothLayers", "HCITransport"),
            swiftSettings: settings),
        .testTarget(name: "DBusTests", dependencies: ["DBus", "BusObjects"], swiftSettings: settings),
        .testTarget(
            name: "BusServiceTests",
            dependencies: ["BusService", "DBus", "BusObjects"]
                + library("BluetoothLayers", "HCITransport", "VirtualRadio"),
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
