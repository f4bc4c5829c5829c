// swift-tools-version: 6.2
import PackageDescription

// A separate package, because a fuzzer needs every module built with its instrumentation, and because the code under
// test is internal. `Scripts/fuzz --package Bus/Fuzz` builds it.

let package = Package(
    name: "bus-fuzz",
    dependencies: [
        .package(name: "ble-bus", path: ".."),
        .package(name: "swift-bluetooth-le", path: "../.."),
        .package(path: "../../Fuzz/Driver"),
    ],
    targets: [
        .executableTarget(
            name: "fuzz",
            dependencies: [
                .product(name: "BusService", package: "ble-bus"),
                .product(name: "BluetoothLayers", package: "swift-bluetooth-le"),
                .product(name: "FuzzDriver", package: "Driver"),
            ],
            path: "Sources",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
