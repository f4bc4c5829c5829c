import ArgumentParser
import BluetoothLE

/// A number from 0 to 999999, written with six digits (Core 5.4, Vol 3, Part H, 2.3.5.3).
public struct Passkey: ExpressibleByArgument, Equatable, Sendable, CustomStringConvertible {
    /// The number, from 0 to 999999.
    public let value: UInt32

    /// Creates a passkey from a number, which the caller must limit to 999999.
    public init(_ value: UInt32) { self.value = value }

    /// Exactly six decimal digits.
    public init?(argument: String) {
        guard argument.utf8.count == 6, argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let value = UInt32(argument)
        else {
            ArgumentRefusal.note(argument, "a passkey has six digits, such as 042195")
            return nil
        }
        self.value = value
    }

    /// Six decimal digits, such as `042195`.
    public var description: String {
        let digits = "\(value)"
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
}

extension IOCapability: ExpressibleByArgument {
    private static let names: [(String, IOCapability)] = [
        ("display", .displayOnly), ("display-yes-no", .displayYesNo), ("keyboard", .keyboardOnly),
        ("none", .noInputNoOutput), ("keyboard-display", .keyboardDisplay),
    ]

    /// Parses one of the texts in `allValueStrings`. Returns nil for any other text.
    public init?(argument: String) {
        guard let capability = Self.names.first(where: { $0.0 == argument })?.1 else { return nil }
        self = capability
    }

    /// The capabilities as written in arguments: `display`, `display-yes-no`, `keyboard`, `none`, `keyboard-display`.
    public static var allValueStrings: [String] { names.map(\.0) }
    /// The names need no descriptions.
    public static var allValueDescriptions: [String: String] { [:] }

    /// The capability as written in arguments.
    public var defaultValueDescription: String { Self.names.first { $0.1 == self }?.0 ?? "" }
}

extension PairingOutcome {
    /// The strength of the keys, and whether they are stored.
    public var summary: String { strength.summary + (isBonded ? ", bonded" : ", not bonded") }
}

extension KeyStrength {
    /// The strength of the keys, for users.
    public var summary: String {
        model.name + (usesSecureConnections ? ", LE Secure Connections" : ", legacy pairing") + ", \(keySize) octets"
    }
}

extension AssociationModel {
    /// The name of the model, for users.
    public var name: String {
        switch self {
        case .justWorks: "just works"
        case .passkeyEntry: "passkey entry"
        case .numericComparison: "numeric comparison"
        case .outOfBand: "out of band"
        }
    }
}
