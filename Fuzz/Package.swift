// swift-tools-version: 6.2
import PackageDescription

// A separate package, because a fuzzer needs every module built with its instrumentation. `Scripts/fuzz` builds it.

let settings: [SwiftSetting] = [
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let core = ["BluetoothLayers", "BluetoothValues", "VirtualRadio"].map {
    Target.Dependency.product(name: $0, package: "swift-bluetooth-le")
}

let package = Package(
    name: "fuzz",
    // Named explicitly, independently of the directory's name.
    dependencies: [.package(name: "swift-bluetooth-le", path: ".."), .package(path: "Driver")],
    targets: [
        // The targets and their invariants. The tests of the main package also build them, to replay inputs that once
        // failed.
        .target(name: "FuzzTargets", dependencies: core, path: "Targets", swiftSettings: settings),
        .executableTarget(
            name: "fuzz", dependencies: core + ["FuzzTargets", .product(name: "FuzzDriver", package: "Driver")],
            path: "Main", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
