import BluetoothBase

/// Selects one of the kernel's adapters.
///
/// The text form is the part after `hci-socket:`. Adapters are numbered as they appear. One that is plugged in again
/// may get another number but keeps its address.
@nonexhaustive
public enum AdapterSelector: Hashable, Sendable {
    /// The usable adapter with the lowest number. The text form is empty.
    case first
    /// `N` or `hciN`: the adapter that currently has this number.
    case index(UInt16)
    /// `AA:BB:CC:DD:EE:FF`: the adapter with this public address, regardless of its number.
    case address(DeviceAddress)
}

extension AdapterSelector: LosslessStringConvertible {
    /// Parses the text form. Returns nil if it is invalid.
    public init?(_ text: String) {
        if text.isEmpty {
            self = .first
        } else if text.contains(":") {
            // Seventeen characters: an address without the suffix for its type.
            guard text.utf8.count == 17, let address = DeviceAddress(text), address.value != 0 else { return nil }
            self = .address(DeviceAddress(address.value, kind: .public))
        } else {
            let digits = text.hasPrefix("hci") ? text.dropFirst(3) : text[...]
            // 65535 means no adapter.
            guard let index: UInt16 = decimalNumber(digits), index != .max else { return nil }
            self = .index(index)
        }
    }

    /// The text form: empty, the adapter's number, or its address without a type, such as `AA:BB:CC:DD:EE:FF`.
    public var description: String {
        switch self {
        case .first: ""
        case .index(let index): "\(index)"
        case .address(let address): address.octets
        }
    }
}

extension DeviceAddress {
    /// Only the six octets, most significant first, as in the names of adapters.
    var octets: String { String(description.prefix(17)) }
}
