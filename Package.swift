// swift-tools-version: 6.2
import PackageDescription

// With `Lifetimes`, a protocol data unit can be a view: a struct that contains a `Span` of the bytes it was decoded
// from. Decoding therefore copies nothing. See Documentation/Architecture.md, "Bytes".
let settings: [SwiftSetting] = [
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // Continuous integration sets this variable to treat warnings as errors, in this package's targets only.
    .treatAllWarnings(as: Context.environment["BLUETOOTH_WARNINGS_AS_ERRORS"] == nil ? .warning : .error),
]

func layer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// For modules with the APIs of Apple's frameworks, which have no concurrency annotations.
let compatibility: [SwiftSetting] = [
    .swiftLanguageMode(.v5), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    settings[3],
]

/// Only packages that enable these traits download OpenCombine and swift-crypto.
let combine = TargetDependencyCondition.when(traits: ["Combine"])
let boringSSL = TargetDependencyCondition.when(traits: ["BoringSSL"])

func executable(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies + [.product(name: "ArgumentParser", package: "swift-argument-parser")],
        swiftSettings: settings)
}

func tests(of name: String, and dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: [.init(stringLiteral: name), "TestSupport"] + dependencies,
        swiftSettings: settings)
}

let package = Package(
    name: "swift-bluetooth-le",
    products: [
        .library(name: "BluetoothLE", targets: ["BluetoothLE"]),
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "CoreBluetoothTesting", targets: ["CoreBluetoothTesting"]),
        .library(name: "Combine", targets: ["Combine", "CombineOverlay"]),
        .library(name: "os", targets: ["os", "OSOverlay"]),
        .library(name: "BluetoothValues", targets: ["BluetoothValues"]),
        .library(name: "HCITransport", targets: ["HCITransport"]),
        .library(name: "VirtualRadio", targets: ["VirtualRadio"]),
        .library(name: "BluetoothSimulation", targets: ["BluetoothSimulation"]),
        // Experimental: every layer, for authors of tools. Any minor release may change them without deprecation: see
        // CONTRIBUTING.md, "Versions".
        .library(
            name: "BluetoothLayers",
            targets: [
                "BluetoothBase", "BluetoothNumbers", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT",
                "BluetoothSMP", "BluetoothGAP", "BluetoothDocuments", "BluetoothCrypto", "BluetoothTrace",
                "BluetoothHost", "BluetoothUsers", "BluetoothAdapter",
            ]),
    ],
    traits: [
        .default(enabledTraits: ["Pairing"]),
        .trait(
            name: "Pairing",
            description:
                "Pairing and encryption, with the system's OpenSSL 3: see Documentation/Installing.md, \"Traits\"."),
        .trait(
            name: "BoringSSL",
            description:
                "Compiles in the BoringSSL of swift-crypto, for programs that cannot load the system's OpenSSL 3.",
            enabledTraits: ["Pairing"]),
        .trait(
            name: "Combine", description: "OpenCombine, for apps that import Combine: see Documentation/Migration.md."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        // OpenCombine's major version is 0, so a minor version may break its users.
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", .upToNextMinor(from: "0.14.0")),
    ],
    targets: [
        // Glibc or Musl, and the headers of libbluetooth. The pure core below uses neither.
        layer("BluetoothPlatform", ["CBluetoothHCI"]),
        // The pure core, bottom up. A layer imports only layers above it in this list.
        layer("BluetoothBase", []),
        layer("BluetoothNumbers", ["BluetoothBase"]),
        layer("BluetoothHCI", ["BluetoothBase"]),
        layer("BluetoothL2CAP", ["BluetoothBase"]),
        layer("BluetoothATT", ["BluetoothBase"]),
        layer("BluetoothGATT", ["BluetoothBase", "BluetoothATT"]),
        layer("BluetoothSMP", ["BluetoothBase"]),
        layer("BluetoothGAP", ["BluetoothBase", "BluetoothNumbers"]),
        // It rounds numbers, which needs libm on Linux, and no module that it depends on links libm.
        .target(
            name: "BluetoothValues", dependencies: ["BluetoothBase"], swiftSettings: settings,
            linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
        // Devices in JSON files.
        layer("BluetoothDocuments", ["BluetoothBase", "BluetoothATT", "BluetoothGATT", "BluetoothGAP"]),
        // The ciphers that callers pass to BluetoothSMP and BluetoothValues.
        layer(
            "BluetoothCrypto",
            [
                "BluetoothSMP", "BluetoothValues", "BluetoothPlatform",
                .product(name: "Crypto", package: "swift-crypto", condition: boringSSL),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: boringSSL),
            ]),
        // Bytes in and out: the only layer that talks to the kernel.
        // No `pkgConfig: "bluez"`: it would link libbluetooth.so, but only the headers are used.
        .systemLibrary(name: "CBluetoothHCI", providers: [.apt(["libbluetooth-dev"])]),
        layer("HCITransport", ["BluetoothBase", "BluetoothHCI", "BluetoothPlatform", "CBluetoothHCI"]),
        layer(
            "BluetoothHost",
            [
                "BluetoothBase", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT", "BluetoothSMP",
                "BluetoothGAP",
            ]),
        // One host, shared by several users.
        layer(
            "BluetoothUsers",
            [
                "BluetoothBase", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT", "BluetoothSMP",
                "BluetoothGAP", "BluetoothHost",
            ]),
        layer("BluetoothTrace", ["BluetoothBase", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothSMP"]),
        // Controllers without hardware: the other end of HCI, for tests and simulation.
        layer("VirtualRadio", ["BluetoothBase", "BluetoothHCI", "BluetoothPlatform", "BluetoothCrypto"]),
        // The shell: the one layer that owns threads, clocks and sockets.
        layer(
            "BluetoothAdapter",
            [
                "BluetoothBase", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGAP", "BluetoothGATT",
                "BluetoothSMP", "BluetoothHost", "BluetoothUsers", "BluetoothPlatform", "HCITransport",
                .target(name: "BluetoothCrypto", condition: .when(traits: ["Pairing"])),
            ]),
        // The async API for applications.
        .target(
            name: "BluetoothLE",
            dependencies: [
                "BluetoothBase", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT", "BluetoothGAP",
                "BluetoothSMP", "BluetoothValues", "BluetoothHost", "BluetoothUsers", "BluetoothAdapter",
                "HCITransport",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            // A call runs in its caller's isolation, so a call that need not wait does not change threads.
            swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        // Apple's API, for apps written for Apple's platforms.
        .target(
            name: "CoreBluetooth",
            dependencies: [
                "BluetoothBase", "BluetoothNumbers", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT",
                "BluetoothGAP", "BluetoothSMP", "BluetoothHost", "BluetoothUsers", "BluetoothAdapter",
                "BluetoothPlatform", "HCITransport", "BluetoothObserving",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: compatibility),
        // Virtual peripherals and centrals for an app's tests.
        .target(
            name: "CoreBluetoothTesting",
            dependencies: [
                "BluetoothBase", "BluetoothHCI", "BluetoothATT", "BluetoothGATT", "BluetoothGAP", "BluetoothHost",
                "BluetoothAdapter", "BluetoothDocuments", "BluetoothLE", "BluetoothSimulation", "CoreBluetooth",
                "VirtualRadio",
            ],
            swiftSettings: compatibility),
        // Worlds of adapters and applications in virtual time, generated from a seed.
        .target(
            name: "BluetoothSimulation",
            dependencies: [
                "BluetoothBase", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT", "BluetoothGAP",
                "BluetoothSMP", "BluetoothCrypto", "BluetoothHost", "BluetoothUsers", "BluetoothAdapter", "BluetoothLE",
                "CoreBluetooth",
                "BluetoothPlatform", "HCITransport", "VirtualRadio", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // What apps use of Foundation and of the Objective-C runtime with Core Bluetooth, and Linux lacks.
        .target(name: "BluetoothObserving", swiftSettings: compatibility),
        // For apps that observe objects with Combine, or write to Apple's log. No other target here depends on them.
        // Apps import a C module that re-exports a Swift module: see Sources/os/include/module.modulemap.
        .target(name: "Combine"),
        .target(
            name: "CombineOverlay",
            dependencies: [
                "BluetoothObserving", .product(name: "OpenCombine", package: "OpenCombine", condition: combine),
                .product(name: "OpenCombineDispatch", package: "OpenCombine", condition: combine),
                .product(name: "OpenCombineFoundation", package: "OpenCombine", condition: combine),
            ],
            swiftSettings: compatibility),
        .target(name: "os"),
        .target(
            name: "OSOverlay", dependencies: [.product(name: "Logging", package: "swift-log")], swiftSettings: settings),
        // The executables, which double as examples, and the code they share. None of them is declared as a product. At
        // the top of a clone, SwiftPM makes a product of each executable target. A dependent package gets none of
        // these, so it can have programs with the same names.
        layer(
            "BluetoothCommandLine",
            [
                "BluetoothLE", "BluetoothHost", "BluetoothPlatform", "HCITransport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // Separate from `ble`, so that Scripts/demo need not build the rest of it.
        layer(
            "RadioCommand",
            [
                "BluetoothBase", "BluetoothHCI", "BluetoothCrypto", "BluetoothTrace", "HCITransport",
                "VirtualRadio", "BluetoothCommandLine",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        executable("radio", ["BluetoothCommandLine", "RadioCommand"]),
        executable("central", ["BluetoothLE", "BluetoothCommandLine"]),
        executable("peripheral", ["BluetoothLE", "BluetoothCommandLine"]),
        executable(
            "ble",
            [
                "BluetoothBase", "BluetoothNumbers", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT",
                "BluetoothTrace", "BluetoothDocuments", "HCITransport", "VirtualRadio", "BluetoothSMP",
                "BluetoothCrypto", "BluetoothGAP", "BluetoothValues", "BluetoothHost",
                "BluetoothAdapter", "BluetoothLE", "BluetoothPlatform", "BluetoothSimulation",
                "BluetoothCommandLine", "RadioCommand",
            ]),
        // Tests
        .target(
            name: "TestSupport", dependencies: ["BluetoothBase", "BluetoothHCI"], path: "Tests/TestSupport",
            swiftSettings: settings),
        // For the tests of the layers above BluetoothAdapter.
        .target(
            name: "AdapterTestSupport",
            dependencies: [
                "BluetoothBase", "BluetoothSMP", "BluetoothHost", "BluetoothAdapter", "BluetoothLE", "VirtualRadio",
            ],
            path: "Tests/AdapterTestSupport", swiftSettings: settings),
        tests(of: "BluetoothBase"),
        tests(of: "BluetoothNumbers", and: ["BluetoothBase"]),
        tests(of: "BluetoothHCI"),
        tests(of: "BluetoothL2CAP"),
        tests(of: "BluetoothATT"),
        tests(of: "BluetoothGATT", and: ["BluetoothATT", "BluetoothPlatform"]),
        tests(of: "BluetoothSMP", and: ["BluetoothCrypto", "BluetoothPlatform"]),
        tests(of: "BluetoothGAP"),
        tests(of: "BluetoothValues", and: ["BluetoothBase", "BluetoothCrypto"]),
        tests(of: "BluetoothDocuments", and: ["BluetoothBase", "BluetoothATT", "BluetoothGATT", "BluetoothGAP"]),
        tests(of: "HCITransport", and: ["BluetoothHCI", "BluetoothPlatform", "CBluetoothHCI"]),
        tests(of: "BluetoothTrace", and: ["BluetoothHCI", "BluetoothL2CAP", "BluetoothATT"]),
        tests(
            of: "BluetoothHost",
            and: [
                "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT", "BluetoothSMP", "BluetoothCrypto",
                "BluetoothUsers", "BluetoothValues", "BluetoothSimulation", "VirtualRadio",
            ]),
        tests(
            of: "BluetoothAdapter",
            and: [
                "BluetoothATT", "BluetoothGATT", "BluetoothSMP", "BluetoothCrypto", "BluetoothHost", "BluetoothUsers",
                "BluetoothPlatform", "VirtualRadio", "HCITransport", "AdapterTestSupport",
            ]),
        // Writes bonds until it is killed: see Scripts/kill-bonds.
        .executableTarget(
            name: "bond-writer",
            dependencies: [
                "BluetoothAdapter", "BluetoothHost", "BluetoothSMP", "BluetoothGATT", "BluetoothATT", "BluetoothHCI",
                "BluetoothBase", "BluetoothPlatform",
            ],
            path: "Tests/KilledBonds", swiftSettings: settings),
        tests(
            of: "BluetoothLE",
            and: [
                "BluetoothAdapter", "BluetoothGAP", "BluetoothGATT", "BluetoothHCI", "BluetoothPlatform",
                "VirtualRadio", "HCITransport", "AdapterTestSupport", .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "CoreBluetoothTests",
            dependencies: [
                "CoreBluetooth", "CoreBluetoothTesting", "BluetoothAdapter", "BluetoothGATT", "BluetoothHost",
                "BluetoothLE", "VirtualRadio", "TestSupport", "AdapterTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Symbols"], swiftSettings: compatibility),
        .testTarget(
            name: "CoreBluetoothTestingTests",
            dependencies: [
                "BluetoothBase", "BluetoothHCI", "BluetoothLE", "BluetoothSimulation", "CoreBluetooth",
                "CoreBluetoothTesting", "VirtualRadio", "AdapterTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: compatibility),
        .testTarget(
            name: "OSTests", dependencies: ["os", "OSOverlay", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        tests(of: "VirtualRadio", and: ["BluetoothBase", "BluetoothHCI"]),
        tests(
            of: "BluetoothSimulation",
            and: ["BluetoothBase", "BluetoothHCI", "BluetoothGATT", "BluetoothLE", "VirtualRadio"]),
        // Runs the library as a separate process for the kernel suite, in the virtual machine: see Tests/Kernel.
        .executableTarget(
            name: "kernel-agent", dependencies: ["BluetoothLE"], path: "Tests/Kernel/Agent", swiftSettings: settings),
        // Checks against captures of stacks we did not write, and invariants that must hold for any bytes: see
        // Fuzz/README.md.
        .target(
            name: "FuzzReplay",
            dependencies: [
                "BluetoothBase", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT", "BluetoothGAP",
                "BluetoothSMP", "BluetoothCrypto", "BluetoothValues", "BluetoothDocuments", "BluetoothHost",
                "BluetoothTrace", "VirtualRadio",
            ],
            path: "Fuzz/Targets", swiftSettings: settings),
        .testTarget(
            name: "FixtureTests",
            dependencies: [
                "BluetoothBase", "BluetoothHCI", "BluetoothL2CAP", "BluetoothATT", "BluetoothGATT", "BluetoothGAP",
                "BluetoothHost", "BluetoothTrace", "FuzzReplay", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "BluetoothCommandLine", "RadioCommand", "ble", "central", "peripheral", "BluetoothBase",
                "BluetoothLE",
                "BluetoothHCI", "BluetoothGAP", "BluetoothSMP", "BluetoothHost", "BluetoothAdapter",
                "BluetoothDocuments", "BluetoothPlatform", "HCITransport", "VirtualRadio",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
