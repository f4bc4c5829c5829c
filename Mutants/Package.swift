// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that packages that depend on the library build none of this. Scripts/mutants runs it.
let package = Package(
    name: "Mutants",
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/swiftlang/swift-syntax.git", from: "603.0.1"),
    ],
    targets: [
        .executableTarget(
            name: "mutate",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SwiftOperators", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
