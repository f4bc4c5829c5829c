import Testing

@testable import Adaptation

@Suite("Manifests")
struct ManifestTests {
    private static let before = """
        // swift-tools-version:5.1
        import PackageDescription

        let package = Package(name: "A", targets: [.target(name: "A"), .target(name: "B")])

        """
    private static let library = LibraryLocation.url("https://example.com/swift-bluetooth-le.git")

    private static func adapted(_ text: String, _ products: Set<Product>, copies: [String] = []) -> String {
        Manifest.adding(
            [TargetNeeds(name: "A", products: products)], to: text, library: library, setsLanguageModes: false,
            copies: copies)
    }

    @Test
    func `Products are added for Linux only`() {
        let after = Self.adapted(Self.before, [.coreBluetooth])
        #expect(after.hasPrefix("// swift-tools-version:5.3\n"))
        #expect(
            after.contains(
                "package.dependencies.append(.package(url: \"https://example.com/swift-bluetooth-le.git\", branch: \"main\"))"
            ))
        #expect(after.contains("where [\"A\"].contains(target.name)"))
        #expect(
            after.contains(
                ".product(name: \"CoreBluetooth\", package: \"swift-bluetooth-le\", condition: .when(platforms: [.linux]))"
            ))
    }

    @Test
    func `Combine needs a trait, and keeps the language mode`() {
        let after = Self.adapted(Self.before, [.combine, .coreBluetooth])
        #expect(after.hasPrefix("// swift-tools-version:6.1\n"))
        #expect(after.contains("traits: [.defaults, \"Combine\"]"))
        #expect(after.contains("package.swiftLanguageModes = [.v5]"))
    }

    @Test
    func `A second time replaces what the first one added`() {
        let once = Self.adapted(Self.before, [.coreBluetooth])
        #expect(Self.adapted(once, [.coreBluetooth]) == once)
        #expect(Self.adapted(once, [.coreBluetooth, .os]).contains("\"os\""))
    }

    @Test
    func `A manifest that names the library, or needs nothing, is kept`() {
        let own = Self.before.replacing(
            "targets:", with: "dependencies: [.package(path: \"../swift-bluetooth-le\")], targets:")
        #expect(Self.adapted(own, [.coreBluetooth]) == own)
        #expect(Self.adapted(Self.before, []) == Self.before)
    }

    @Test
    func `Copies of dependencies are used on Linux only`() {
        let after = Self.adapted(Self.before, [.coreBluetooth], copies: ["RxSwift"])
        #expect(after.contains("#if os(Linux)\n"))
        #expect(after.contains(".package(path: \"Dependencies/RxSwift\")"))
    }

    @Test
    func `A folder of sources gets a manifest`() {
        let text = Manifest.generated(
            name: "My Sensor", products: [.coreBluetooth, .crypto], isProgram: false, excluded: ["ATests.swift"],
            library: .path("/a/swift-bluetooth-le"))
        #expect(text.contains("name: \"My_Sensor\""))
        #expect(text.contains(".package(path: \"/a/swift-bluetooth-le\"),"))
        #expect(text.contains("swift-crypto.git"))
        #expect(text.contains("exclude: [\"ATests.swift\"]"))
        #expect(text.contains(".target(\n"))
    }

    @Test(arguments: [
        ("import CoreBluetooth\nimport Combine\n", Set<Product>([.coreBluetooth, .combine])),
        ("#if canImport(UIKit)\nimport Combine\n#endif\nimport os.log\n", Set<Product>([.os])),
        ("import Foundation\n", Set<Product>()),
    ])
    func `Imports on Linux determine the products`(text: String, products: Set<Product>) {
        #expect(Product.imported(by: SourceText(path: "A.swift", text: text)) == products)
    }
}
