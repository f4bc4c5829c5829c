import BluetoothBase

/// Which of the kernel's adapters is meant.
///
/// The text form is that behind `hci-socket:`. Adapters are numbered as they come, so that one that is plugged in again
/// may have another number: its address is what stays.
public enum AdapterSelector: Hashable, Sendable {
    /// The usable one with the lowest number: written as nothing.
    case first
    /// `N`, or `hciN`: the adapter that has this number now.
    case index(UInt16)
    /// `AA:BB:CC:DD:EE:FF`: the adapter with this public address, whatever its number.
    case address(DeviceAddress)
}

extension AdapterSelector: LosslessStringConvertible {
    /// Reads the text form; nil where it is none.
    public init?(_ text: String) {
        if text.isEmpty {
            self = .first
        } else if text.contains(":") {
            // Seventeen characters: an address without the suffix that tells its type.
            guard text.utf8.count == 17, let address = DeviceAddress(text), address.value != 0 else { return nil }
            self = .address(DeviceAddress(address.value, kind: .public))
        } else {
            let digits = text.hasPrefix("hci") ? text.dropFirst(3) : text[...]
            // 65535 stands for no adapter.
            guard let index: UInt16 = decimalNumber(digits), index != .max else { return nil }
            self = .index(index)
        }
    }

    public var description: String {
        switch self {
        case .first: ""
        case .index(let index): "\(index)"
        case .address(let address): address.octets
        }
    }
}

extension DeviceAddress {
    /// The six octets alone, most significant first, as adapters are named.
    var octets: String { String(description.prefix(17)) }
}
