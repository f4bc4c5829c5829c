/// A value of any D-Bus type.
package enum DBusValue: Hashable, Sendable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    case signature(String)
    /// A file descriptor. A message duplicates the descriptors that are appended to it. A descriptor that was read
    /// belongs to its message.
    case fileDescriptor(Int32)
    /// `ay`, as one block.
    case bytes([UInt8])
    /// An array of elements with this signature, other than `y`.
    indirect case array(of: String, [DBusValue])
    /// A dictionary, in order, with the signatures of its keys and values.
    indirect case dictionary(key: String, value: String, [Entry])
    case structure([DBusValue])
    indirect case variant(DBusValue)

    /// An entry of a dictionary.
    package struct Entry: Hashable, Sendable {
        package var key: DBusValue
        package var value: DBusValue

        package init(_ key: DBusValue, _ value: DBusValue) {
            self.key = key
            self.value = value
        }
    }

    /// The D-Bus signature of the value, which is a single complete type.
    package var signature: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .fileDescriptor: "h"
        case .bytes: "ay"
        case .array(let element, _): "a" + element
        case .dictionary(let key, let value, _): "a{\(key)\(value)}"
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .variant: "v"
        }
    }
}

// MARK: - Construction

extension DBusValue {
    /// An array of strings.
    package static func strings(_ values: some Sequence<String>) -> DBusValue {
        .array(of: "s", values.map(DBusValue.string))
    }

    /// A dictionary from strings to variants, the form of BlueZ's options and properties.
    package static func variants(_ entries: some Sequence<(String, DBusValue)>) -> DBusValue {
        .dictionary(key: "s", value: "v", entries.map { Entry(.string($0.0), .variant($0.1)) })
    }
}

// MARK: - Reading

extension DBusValue {
    /// The value inside of variants.
    package var unwrapped: DBusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }

    package var text: String? { if case .string(let text) = unwrapped { text } else { nil } }
    package var flag: Bool? { if case .boolean(let flag) = unwrapped { flag } else { nil } }
    package var octets: [UInt8]? { if case .bytes(let octets) = unwrapped { octets } else { nil } }
    package var descriptor: Int32? { if case .fileDescriptor(let number) = unwrapped { number } else { nil } }
    package var path: ObjectPath? { if case .objectPath(let path) = unwrapped { path } else { nil } }

    /// The value of any integer type.
    package var integer: Int? {
        switch unwrapped {
        case .byte(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int64(let value): Int(value)
        case .uint64(let value): Int(exactly: value)
        case .boolean, .double, .string, .objectPath, .signature, .fileDescriptor, .bytes, .array, .dictionary,
            .structure, .variant:
            nil
        }
    }

    /// The elements of an array, or the members of a structure.
    package var elements: [DBusValue]? {
        switch unwrapped {
        case .array(_, let elements), .structure(let elements): elements
        case .bytes(let octets): octets.map(DBusValue.byte)
        default: nil
        }
    }

    /// The strings of an array of strings.
    package var texts: [String]? {
        guard case .array("s", let elements) = unwrapped else { return nil }
        return elements.compactMap(\.text)
    }

    /// The entries of a dictionary.
    package var entries: [Entry]? {
        if case .dictionary(_, _, let entries) = unwrapped { entries } else { nil }
    }

    /// The value of a string key in a dictionary, without its variant. Nil if the key is missing, or this is not a
    /// dictionary.
    package subscript(key: String) -> DBusValue? {
        entries?.last { $0.key == .string(key) }?.value.unwrapped
    }
}
