// swift-tools-version: 6.2
import PackageDescription

// What all fuzzers share. A separate package without dependencies: a package cannot depend on another one whose
// directory has the same name, as those of all fuzzers do.

let package = Package(
    name: "fuzz-driver",
    products: [.library(name: "FuzzDriver", targets: ["FuzzDriver"])],
    targets: [
        .target(
            name: "FuzzDriver", path: "Sources",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
