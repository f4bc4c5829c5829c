// swift-tools-version: 6.2
import PackageDescription

// A separate package, because a fuzzer needs every module built with its instrumentation, and because the code under
// test is internal. `Scripts/fuzz --package Gateway/Fuzz` builds it.

let package = Package(
    name: "gateway-fuzz",
    dependencies: [
        .package(name: "ble-gateway", path: ".."),
        .package(name: "swift-bluetooth-le", path: "../.."),
        .package(path: "../../Fuzz/Driver"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
    ],
    targets: [
        .executableTarget(
            name: "fuzz",
            dependencies: [
                .product(name: "GatewayESPHome", package: "ble-gateway"),
                .product(name: "GatewayService", package: "ble-gateway"),
                .product(name: "BluetoothLE", package: "swift-bluetooth-le"),
                .product(name: "BluetoothValues", package: "swift-bluetooth-le"),
                .product(name: "BluetoothLayers", package: "swift-bluetooth-le"),
                .product(name: "FuzzDriver", package: "Driver"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Sources",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
