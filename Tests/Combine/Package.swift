// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the library's tests don't need OpenCombine. It depends on the library in the same way as
// an app that imports Combine.
let package = Package(
    name: "combine-tests",
    dependencies: [.package(name: "swift-bluetooth-le", path: "../..", traits: [.defaults, "Combine"])],
    targets: [
        .testTarget(
            name: "CombineTests", dependencies: [.product(name: "Combine", package: "swift-bluetooth-le")],
            swiftSettings: [.swiftLanguageMode(.v5), .enableUpcomingFeature("ExistentialAny")])
    ]
)
