/// A product that replaces a framework of Apple's on Linux.
public enum Product: String, CaseIterable, Comparable, Sendable {
    case coreBluetooth = "CoreBluetooth"
    case combine = "Combine"
    case os = "os"
    /// Of the package swift-crypto.
    case crypto = "Crypto"
    /// Of the package swift-crypto, with block ciphers.
    case cryptoExtras = "CryptoExtras"

    /// Whether the package swift-crypto has the product.
    var isOfCrypto: Bool { self == .crypto || self == .cryptoExtras }

    /// The product that provides a module; nil if none of these does.
    init?(module: String) {
        switch module {
        case "CoreBluetooth": self = .coreBluetooth
        case "Combine": self = .combine
        case "os", "OSLog": self = .os
        case "Crypto": self = .crypto
        case "CryptoExtras": self = .cryptoExtras
        default: return nil
        }
    }

    /// Orders products by name, with Core Bluetooth first.
    public static func < (lhs: Product, rhs: Product) -> Bool {
        if lhs == .coreBluetooth || rhs == .coreBluetooth { return lhs == .coreBluetooth && lhs != rhs }
        return lhs.rawValue < rhs.rawValue
    }
}

extension Product {
    /// The products that a text imports, on Linux.
    public static func imported(by source: SourceText) -> Set<Product> {
        guard source.mentionsImport(of: ["CoreBluetooth", "Combine", "os", "OSLog", "Crypto"]) else { return [] }
        return Set(ImportedModules(ParsedFile(source)).modules.compactMap { Product(module: $0) })
    }
}

extension SourceText {
    /// Whether a line imports one of these modules, under any condition. Parsing a file takes much longer.
    func mentionsImport(of modules: [String]) -> Bool {
        text.utf8.split(separator: UInt8(ascii: "\n")).contains { line in
            guard let line = String(line), line.contains("import ") else { return false }
            return modules.contains(where: line.contains)
        }
    }
}

/// A version of the package manager that a manifest asks for.
struct ToolsVersion: Comparable {
    let major: Int
    let minor: Int

    static func < (lhs: ToolsVersion, rhs: ToolsVersion) -> Bool { (lhs.major, lhs.minor) < (rhs.major, rhs.minor) }
}
