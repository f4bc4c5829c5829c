// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "HeartRateMonitor",
    dependencies: [.package(name: "swift-bluetooth-le", path: "../..")],
    targets: [
        .executableTarget(
            name: "HeartRateMonitor",
            dependencies: [
                .product(name: "CoreBluetooth", package: "swift-bluetooth-le"),
                .product(name: "Combine", package: "swift-bluetooth-le"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)])
    ]
)
