// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "HeartRateSensor",
    dependencies: [.package(name: "swift-bluetooth-le", path: "../..")],
    targets: [
        .executableTarget(
            name: "HeartRateSensor",
            dependencies: [.product(name: "CoreBluetooth", package: "swift-bluetooth-le")],
            swiftSettings: [.swiftLanguageMode(.v5)])
    ]
)
