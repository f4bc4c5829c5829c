// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that the tests of the library need no OpenCombine. It depends on the library as an app
// does that imports Combine.
let package = Package(
    name: "combine-tests",
    dependencies: [.package(name: "swift-bluetooth-le", path: "../..", traits: [.defaults, "Combine"])],
    targets: [
        .testTarget(
            name: "CombineTests", dependencies: [.product(name: "Combine", package: "swift-bluetooth-le")],
            swiftSettings: [.swiftLanguageMode(.v5), .enableUpcomingFeature("ExistentialAny")])
    ]
)
