import BluetoothATT
import BluetoothBase

// An attribute's value for one client. Permissions have been checked before.

extension GATTServer {
    /// The length of a value, in octets; nil if it is dynamic.
    @inline(__always)
    func length(at index: Int) -> Int? {
        switch database.rows[index].storage {
        case .constant, .fixedLength, .variableLength: database.values[index].count
        case .clientConfiguration: 2
        case .clientSupportedFeatures: 1
        case .dynamic: nil
        }
    }

    /// Appends at most `count` octets of a value, from `offset` on. The offset must not be beyond the value's length,
    /// and the value must not be dynamic.
    @inline(__always)
    func append(
        at index: Int, _ client: borrowing GATTServedClient, from offset: Int = 0, count: Int,
        into writer: inout ByteWriter
    ) {
        switch database.rows[index].storage {
        case .constant, .fixedLength, .variableLength:
            database.values[index].withUnsafeBufferPointer {
                writer.append($0.span.extracting(droppingFirst: offset).extracting(first: count))
            }
        case .clientConfiguration(let characteristic, _):
            append(client.configuration(of: characteristic).rawValue, offset, count, into: &writer)
        case .clientSupportedFeatures:
            if offset == 0, count > 0 { writer.append(client.clientSupportedFeatures.rawValue) }
        case .dynamic: break
        }
    }

    private func append(_ value: UInt16, _ offset: Int, _ count: Int, into writer: inout ByteWriter) {
        if offset < 1, count > 0 { writer.append(UInt8(truncatingIfNeeded: value)) }
        if offset < 2, offset &+ count > 1 { writer.append(UInt8(truncatingIfNeeded: value >> 8)) }
    }

    /// Whether a value equals `other`; always false for a dynamic value.
    func value(at index: Int, _ client: borrowing GATTServedClient, equals other: Span<UInt8>) -> Bool {
        switch database.rows[index].storage {
        case .constant, .fixedLength, .variableLength:
            let value = database.values[index]
            return value.span.isEqual(to: other)
        case .clientConfiguration(let characteristic, _):
            let value = client.configuration(of: characteristic).rawValue
            return other.count == 2 && value == UInt16(other[0]) | UInt16(other[1]) << 8
        case .clientSupportedFeatures:
            return other.count == 1 && other[0] == client.clientSupportedFeatures.rawValue
        case .dynamic: return false
        }
    }
}

extension Span<UInt8> {
    fileprivate func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where self[index] != other[index] { return false }
        return true
    }
}
