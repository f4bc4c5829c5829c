// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "swift-bluetooth-le", path: "..", traits: [.defaults, "Combine"])],
    targets: [
        .executableTarget(
            name: "HeartRateMonitor",
            dependencies: [
                .product(name: "CoreBluetooth", package: "swift-bluetooth-le"),
                .product(name: "Combine", package: "swift-bluetooth-le"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "HeartRateSensor",
            dependencies: [.product(name: "CoreBluetooth", package: "swift-bluetooth-le")],
            swiftSettings: [.swiftLanguageMode(.v5)]),
    ]
)
