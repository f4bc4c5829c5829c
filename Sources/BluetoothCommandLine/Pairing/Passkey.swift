import ArgumentParser
import BluetoothLE

/// A number from 0 to 999999, written with six digits (Core 5.4, Vol 3, Part H, 2.3.5.3).
public struct Passkey: ExpressibleByArgument, Equatable, Sendable, CustomStringConvertible {
    public let value: UInt32

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

    public init?(argument: String) {
        guard let capability = Self.names.first(where: { $0.0 == argument })?.1 else { return nil }
        self = capability
    }

    public static var allValueStrings: [String] { names.map(\.0) }
    /// The names are descriptions enough.
    public static var allValueDescriptions: [String: String] { [:] }

    public var defaultValueDescription: String { Self.names.first { $0.1 == self }?.0 ?? "" }
}

extension PairingOutcome {
    /// How good the keys are, and whether they are kept.
    public var summary: String { strength.summary + (isBonded ? ", bonded" : ", not bonded") }
}

extension KeyStrength {
    /// How good keys of this strength are, for people.
    public var summary: String {
        model.name + (usesSecureConnections ? ", LE Secure Connections" : ", legacy pairing") + ", \(keySize) octets"
    }
}

extension AssociationModel {
    /// The model, for people.
    public var name: String {
        switch self {
        case .justWorks: "just works"
        case .passkeyEntry: "passkey entry"
        case .numericComparison: "numeric comparison"
        case .outOfBand: "out of band"
        }
    }
}
