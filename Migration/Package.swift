// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: Context.environment["BLUETOOTH_WARNINGS_AS_ERRORS"] == nil ? .warning : .error),
]

// A separate package: swift-syntax takes minutes to build, and users of the library don't need it.
let package = Package(
    name: "migration",
    platforms: [.macOS(.v13)],
    products: [.executable(name: "adapt", targets: ["AdaptTool"])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/swiftlang/swift-syntax.git", from: "603.0.0"),
    ],
    targets: [
        .target(
            name: "Adaptation",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftParserDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftOperators", package: "swift-syntax"),
            ],
            swiftSettings: settings),
        // Files, manifests and the compiler.
        .target(name: "Projects", dependencies: ["Adaptation"], swiftSettings: settings),
        .executableTarget(
            name: "AdaptTool",
            dependencies: [
                "Adaptation", "Projects", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .testTarget(name: "AdaptationTests", dependencies: ["Adaptation"], swiftSettings: settings),
        .testTarget(name: "ProjectsTests", dependencies: ["Projects", "Adaptation"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
