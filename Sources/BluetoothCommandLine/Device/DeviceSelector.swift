import ArgumentParser
import BluetoothLE

/// A device as a user names it: by its address, or by the name it advertises.
public enum DeviceSelector: Hashable, Sendable {
    case address(DeviceAddress)
    /// A name that no other device in range has.
    case name(String)
}

extension DeviceSelector: ExpressibleByArgument {
    /// Parses an address such as `C0:11:22:33:44:55` or `00:11:22:33:44:55/P`. Anything else is a name.
    public init?(argument: String) {
        if let address = DeviceAddress(argument) {
            self = .address(address)
        } else if argument.isEmpty {
            ArgumentRefusal.note(argument, "give the device's address or name; see ble scan")
            return nil
        } else if Self.isMeantAsAddress(argument) {
            ArgumentRefusal.note(argument, DeviceAddress.expectation)
            return nil
        } else {
            self = .name(argument)
        }
    }

    /// Whether a text has colons, and otherwise only characters that occur in addresses.
    private static func isMeantAsAddress(_ text: String) -> Bool {
        let digits = text.split(separator: "/", omittingEmptySubsequences: false)[0]
        return digits.contains(":") && digits.allSatisfy { $0 == ":" || ($0.isASCII && $0.isHexDigit) }
    }
}

extension DeviceSelector: CustomStringConvertible {
    /// For messages. A name is in quotation marks, without control characters.
    public var description: String {
        switch self {
        case .address(let address): "\(address)"
        case .name(let name): quoted(name)
        }
    }
}
