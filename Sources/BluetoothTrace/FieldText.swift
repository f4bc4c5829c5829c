import BluetoothBase
import BluetoothHCI

/// Converts decoded values to text, field by field, by reflection. So every command and event is shown in full without
/// its own formatter.
struct FieldText {
    /// Whether 128-bit values, which are keys, are shown.
    var showsKeys: Bool

    /// Returns the stored properties of a structure as `name value`, in order of declaration.
    func fields(of value: Any) -> String {
        Mirror(reflecting: value).children
            .map { child in field(child.label ?? "", child.value) }
            .filter { !$0.isEmpty }
            .joined(separator: " ")
    }

    private func field(_ label: String, _ value: Any) -> String {
        // The text of these values contains field names.
        if let parameters = value as? ConnectionParameters { return parameters.description }
        if let parameters = value as? LEConnectionParameters { return fields(of: parameters) }
        return "\(words(label)) \(text(value))"
    }

    /// Returns the text of a value without its name.
    func text(_ value: Any) -> String {
        switch value {
        case let key as UInt128: showsKeys ? hexadecimal(key) : "(hidden)"
        case let bytes as [UInt8]: bytes.isEmpty ? "empty" : bytes.hexadecimal()
        case let list as [Any]: "[" + list.map(text).joined(separator: ", ") + "]"
        case let interval as ConnectionInterval: milliseconds(interval.duration)
        case let timeout as SupervisionTimeout: milliseconds(timeout.duration)
        case let slots as LESlots: milliseconds(slots.duration)
        case let role as ConnectionRole: LinkRole(rawValue: role.rawValue).map { "\($0)" } ?? reflected(role)
        case let commands as SupportedCommands:
            "\(HCICommandCatalog.opcodes.count { commands.contains($0) }) of \(HCICommandCatalog.opcodes.count) known"
        case let described as any CustomStringConvertible: described.description
        default: reflected(value)
        }
    }

    private func reflected(_ value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { text($0.value) } ?? "none"
        case .enum where mirror.children.isEmpty: return words(String(describing: value))
        case .enum:
            return mirror.children.map { "\(words($0.label ?? "")) \(text($0.value))" }.joined(separator: " ")
        default:
            if mirror.children.count == 1, let child = mirror.children.first, child.label == "rawValue",
                let number = child.value as? any BinaryInteger
            {
                return "0x" + hexadecimal(number, digits: 2 * (number.bitWidth / 8))
            }
            return "(" + fields(of: value) + ")"
        }
    }
}

/// Abbreviations that are lower case in Swift names but upper case in text.
private let abbreviations: [String: String] = [
    "acl": "ACL", "hci": "HCI", "iso": "ISO", "le": "LE", "le1m": "LE 1M", "le2m": "LE 2M", "lmp": "LMP", "mps": "MPS",
    "mtu": "MTU", "rssi": "RSSI", "spsm": "SPSM",
]

/// Converts a Swift name to words: `supervisionTimeout` becomes `supervision timeout`. Runs of capitals stay together:
/// `maxCELength` becomes `max CE length`. `connectionHandle` is shortened to `handle`, and the `is` of a flag is
/// dropped.
func words(_ name: String) -> String {
    if name == "connectionHandle" { return "handle" }
    let isFlag = name.hasPrefix("is") && name.dropFirst(2).first?.isUppercase == true
    let characters = Array(isFlag ? name.dropFirst(2) : name[...])
    var words: [String] = []
    var word = ""
    for (index, character) in characters.enumerated() {
        if index > 0, character.isUppercase {
            let followsCapital = characters[index - 1].isUppercase || characters[index - 1].isNumber
            let leadsWord = index + 1 < characters.count && characters[index + 1].isLowercase
            if !followsCapital || leadsWord {
                words.append(word)
                word = ""
            }
        }
        word.append(character)
    }
    words.append(word)
    return words.map { word in
        if word.count > 1, word.allSatisfy({ $0.isUppercase || $0.isNumber }) { return word }
        return abbreviations[word.lowercased()] ?? word.lowercased()
    }.joined(separator: " ")
}

/// Formats a duration in milliseconds, with microsecond resolution and without trailing zeros.
private func milliseconds(_ duration: Duration) -> String {
    let microseconds = duration.nanoseconds / 1000
    var fraction = "\(1000 + abs(microseconds % 1000))".dropFirst()
    while fraction.last == "0" { fraction.removeLast() }
    return fraction.isEmpty ? "\(microseconds / 1000) ms" : "\(microseconds / 1000).\(fraction) ms"
}

/// Formats a key with the most significant octet first, as keys are usually written.
private func hexadecimal(_ key: UInt128) -> String {
    BluetoothBase.hexadecimal(UInt64(truncatingIfNeeded: key >> 64), digits: 16)
        + BluetoothBase.hexadecimal(UInt64(truncatingIfNeeded: key), digits: 16)
}

extension DecodingFailure {
    /// Returns the failure with its offset increased by `count`.
    func offset(by count: Int) -> DecodingFailure { DecodingFailure(reason, at: offset + count) }
}

/// Returns the text for malformed bytes: the reason and the bytes.
func malformedText(_ reason: String, _ bytes: Span<UInt8>) -> String {
    bytes.isEmpty ? "malformed, \(reason)" : "malformed, \(reason): \(bytes.hexadecimal())"
}

extension PacketDescription {
    /// Records that the packet is malformed, and returns the text for its bytes.
    mutating func malformed(_ reason: String, _ bytes: Span<UInt8>) -> String {
        malformation = reason
        return malformedText(reason, bytes)
    }

    mutating func malformed(_ failure: DecodingFailure, _ bytes: Span<UInt8>) -> String {
        malformed("\(failure)", bytes)
    }
}

/// Returns the connection handles in a decoded command or event, found by reflection.
func connectionHandles(in value: Any) -> [ConnectionHandle] {
    Mirror(reflecting: value).children.compactMap { $0.value as? ConnectionHandle }
}
