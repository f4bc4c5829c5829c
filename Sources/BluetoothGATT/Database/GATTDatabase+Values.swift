import BluetoothATT
import BluetoothBase

extension GATTDatabase {
    /// The value that the database keeps for the attribute at `handle`. Nil if no such attribute exists, or if the
    /// value comes from the application or differs from client to client.
    public func value(of handle: AttributeHandle) -> [UInt8]? {
        guard let index = index(of: handle) else { return nil }
        switch rows[index].storage {
        case .constant, .fixedLength, .variableLength: return values[index]
        case .dynamic, .clientConfiguration, .clientSupportedFeatures: return nil
        }
    }

    /// The requirement for a write to the attribute at `handle`; nil if no such attribute exists.
    package func writeRequirement(of handle: AttributeHandle) -> GATTPermissions.Requirement? {
        index(of: handle).map { rows[$0].permissions.write }
    }

    /// The type of the attribute at `handle`.
    public func type(of handle: AttributeHandle) -> BluetoothUUID? {
        index(of: handle).map { typeUUID(at: $0) }
    }

    /// Replaces a value that the database keeps, on behalf of the application: permissions do not apply. Subscribed
    /// clients are not notified; use `AttributeEndpoint.notify` and `indicate` for that.
    public mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) throws(GATTDatabaseError) {
        guard let index = index(of: handle) else { throw .notFound(handle) }
        let maximum: Int
        switch rows[index].storage {
        case .fixedLength:
            guard value.count == values[index].count else { throw .valueNotSettable(handle) }
            maximum = values[index].count
        case .variableLength(let limit): maximum = Int(limit)
        case .constant: maximum = GATTAttributeValue.maximumLength
        case .dynamic, .clientConfiguration, .clientSupportedFeatures: throw .valueNotSettable(handle)
        }
        guard value.count <= maximum else { throw .valueTooLong(maximum: maximum) }
        values[index] = value
    }

    /// Overwrites the start of a value, as a Write Request does if the length is fixed (Core 5.4, Vol 3, Part F,
    /// 3.4.5.1). `value` must not be longer than the current value.
    @inline(__always)
    mutating func overwrite(at index: Int, with value: Span<UInt8>) {
        values[index].withUnsafeMutableBytes { octets in
            value.withUnsafeBytes { octets.copyMemory(from: .init(rebasing: $0.prefix(octets.count))) }
        }
    }

    /// Replaces a value, as a Write Request does if the length varies. The memory is reused.
    @inline(__always)
    mutating func replace(at index: Int, with value: Span<UInt8>) {
        // Most values keep their length, and emptying and filling an array costs more than the rest of a write.
        if value.count == values[index].count { return overwrite(at: index, with: value) }
        values[index].removeAll(keepingCapacity: true)
        value.withUnsafeBufferPointer { values[index].append(contentsOf: $0) }
    }
}
