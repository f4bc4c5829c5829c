import BluetoothATT
import BluetoothBase

/// A service definition unrolled into attributes, in the order of their handles (Core 5.4, Vol 3, Part G, 3).
///
/// Built before handles are assigned: a refused definition leaves the database unchanged.
struct GATTServiceLayout {
    struct Row {
        var uuid: BluetoothUUID
        var attribute: GATTAttribute
        var value: [UInt8]
    }

    private(set) var rows: [Row] = []
    private let definition: GATTServiceDefinition

    init(_ definition: GATTServiceDefinition, in database: GATTDatabase) throws(GATTDatabaseError) {
        self.definition = definition
        append(
            definition.isPrimary ? .primaryService : .secondaryService,
            value: written { $0.append(definition.uuid) })
        for included in definition.includes { try appendInclude(of: included, in: database) }
        for characteristic in definition.characteristics { try append(characteristic) }
    }

    // MARK: - Rows

    private mutating func append(
        _ uuid: BluetoothUUID, permissions: GATTPermissions = .readOnly, storage: GATTAttribute.Storage = .constant,
        value: [UInt8] = []
    ) {
        rows.append(
            Row(
                uuid: uuid,
                attribute: GATTAttribute(handle: 0, groupEnd: 0, permissions: permissions, storage: storage),
                value: value))
    }

    private mutating func append(
        _ uuid: BluetoothUUID, permissions: GATTPermissions, value: GATTAttributeValue
    ) throws(GATTDatabaseError) {
        let longest = GATTAttributeValue.maximumLength
        let storage: GATTAttribute.Storage
        var octets: [UInt8] = []
        switch value {
        case .constant(let constant):
            storage = .constant
            octets = constant
        case .fixedLength(let initial):
            storage = .fixedLength
            octets = initial
        case .variableLength(let initial, let maximum):
            guard maximum <= longest, maximum >= 0 else { throw .valueTooLong(maximum: longest) }
            guard initial.count <= maximum else { throw .valueTooLong(maximum: maximum) }
            storage = .variableLength(maximum: UInt16(maximum))
            octets = initial
        case .dynamic: storage = .dynamic
        case .clientSupportedFeatures: storage = .clientSupportedFeatures
        }
        guard octets.count <= longest else { throw .valueTooLong(maximum: longest) }
        append(uuid, permissions: permissions, storage: storage, value: octets)
    }

    /// Include declaration (3.2): handles of the included service, and its UUID if that has 16 bits.
    private mutating func appendInclude(
        of included: AttributeHandle, in database: GATTDatabase
    ) throws(GATTDatabaseError) {
        guard let index = database.index(of: included), database.isServiceDeclaration(index) else {
            throw .notFound(included)
        }
        let declared = database.values[index]
        let end = database.rows[index].groupEnd
        append(
            .include,
            value: written {
                $0.append(included)
                $0.append(end)
                if declared.count == 2 { $0.append(declared) }
            })
    }

    private mutating func append(_ characteristic: GATTCharacteristicDefinition) throws(GATTDatabaseError) {
        // The declaration holds the handle of the value, which `assignHandles` fills in.
        append(
            .characteristic,
            value: written {
                $0.append(characteristic.declaredProperties.rawValue)
                $0.append(AttributeHandle(0))
                $0.append(characteristic.uuid)
            })
        try append(characteristic.uuid, permissions: characteristic.permissions, value: characteristic.value)
        if characteristic.needsClientConfiguration {
            append(
                .clientCharacteristicConfiguration,
                permissions: GATTPermissions(
                    read: .open, write: characteristic.subscription,
                    minimumEncryptionKeySize: characteristic.permissions.minimumEncryptionKeySize),
                storage: .clientConfiguration(
                    characteristic: 0, supported: characteristic.supportedConfiguration))
        }
        if characteristic.needsExtendedProperties {
            append(
                .characteristicExtendedProperties,
                value: written { $0.append(characteristic.extendedProperties.rawValue) })
        }
        for descriptor in characteristic.descriptors {
            try append(descriptor.uuid, permissions: descriptor.permissions, value: descriptor.value)
        }
    }

    // MARK: - Handles

    /// Numbers the rows from `first` on. The caller ensures that the last handle is at most 0xFFFF.
    mutating func assignHandles(from first: AttributeHandle) -> GATTServiceHandles {
        for index in rows.indices {
            let handle = AttributeHandle(first.rawValue &+ UInt16(truncatingIfNeeded: index))
            rows[index].attribute.handle = handle
            rows[index].attribute.groupEnd = handle
        }
        let end = rows.last?.attribute.handle ?? first
        rows[0].attribute.groupEnd = end
        var next = 1
        var handles = GATTServiceHandles(declaration: first, end: end, includes: [], characteristics: [])
        for _ in definition.includes {
            handles.includes.append(rows[next].attribute.handle)
            next += 1
        }
        for characteristic in definition.characteristics {
            handles.characteristics.append(assignHandles(of: characteristic, next: &next))
        }
        return handles
    }

    private mutating func assignHandles(
        of characteristic: GATTCharacteristicDefinition, next: inout Int
    ) -> GATTCharacteristicHandles {
        let value = rows[next + 1].attribute.handle
        rows[next].value[1] = UInt8(truncatingIfNeeded: value.rawValue)
        rows[next].value[2] = UInt8(truncatingIfNeeded: value.rawValue >> 8)
        var handles = GATTCharacteristicHandles(
            declaration: rows[next].attribute.handle, value: value, clientConfiguration: nil, descriptors: [])
        next += 2
        if characteristic.needsClientConfiguration {
            rows[next].attribute.storage = .clientConfiguration(
                characteristic: value, supported: characteristic.supportedConfiguration)
            handles.clientConfiguration = rows[next].attribute.handle
            next += 1
        }
        if characteristic.needsExtendedProperties { next += 1 }
        for _ in characteristic.descriptors {
            handles.descriptors.append(rows[next].attribute.handle)
            next += 1
        }
        return handles
    }
}

extension GATTCharacteristicDefinition {
    fileprivate var declaredProperties: GATTCharacteristicProperties {
        extendedProperties.isEmpty ? properties : properties.union(.extendedProperties)
    }

    fileprivate var needsExtendedProperties: Bool {
        declaredProperties.contains(.extendedProperties)
            && !descriptors.contains { $0.uuid == .characteristicExtendedProperties }
    }

    fileprivate var needsClientConfiguration: Bool { !supportedConfiguration.isEmpty }

    fileprivate var supportedConfiguration: GATTClientConfiguration {
        var supported: GATTClientConfiguration = []
        if properties.contains(.notify) { supported.insert(.notifications) }
        if properties.contains(.indicate) { supported.insert(.indications) }
        return supported
    }
}

/// The octets `body` writes.
private func written(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    body(&writer)
    return writer.bytes
}
