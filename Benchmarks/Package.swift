// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that packages that depend on the library build none of this. Scripts/benchmark runs it.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "swift-bluetooth-le", path: "..")],
    targets: [
        // The pure host.
        .executableTarget(
            name: "operations",
            dependencies: ["BluetoothLayers", "BluetoothSimulation", "VirtualRadio"].map {
                .product(name: $0, package: "swift-bluetooth-le")
            },
            swiftSettings: [.enableExperimentalFeature("Lifetimes")]),
        // The APIs that applications use, and a controller and a device to use them with.
        .executableTarget(
            name: "faces",
            dependencies: ["BluetoothLE", "CoreBluetooth"].map { .product(name: $0, package: "swift-bluetooth-le") },
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(name: "peer"),
        .executableTarget(name: "bare"),
    ],
    swiftLanguageModes: [.v6]
)
