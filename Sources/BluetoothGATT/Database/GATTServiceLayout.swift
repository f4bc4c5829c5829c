import BluetoothATT
import BluetoothBase

/// A service definition flattened into attributes, in handle order (Core 5.4, Vol 3, Part G, 3).
///
/// It is built before handles are assigned, so a refused definition leaves the database unchanged.
struct GATTServiceLayout {
    struct Row {
        var uuid: BluetoothUUID
        var attribute: GATTAttribute
        var value: [UInt8]
        /// The handle that the definition asks for.
        var wantedHandle: AttributeHandle?
    }

    private(set) var rows: [Row] = []
    private let definition: GATTServiceDefinition

    init(_ definition: GATTServiceDefinition) throws(GATTDatabaseError) {
        self.definition = definition
        append(
            definition.isPrimary ? .primaryService : .secondaryService, at: definition.handle,
            value: written { $0.append(definition.uuid) })
        // The values of these declarations name services that the same call may add, so the database fills them in
        // later.
        for index in definition.includes.indices {
            let handles = definition.includeHandles
            append(.include, at: index < handles.count ? handles[index] : nil)
        }
        for characteristic in definition.characteristics { try append(characteristic) }
    }

    // MARK: - Rows

    private mutating func append(
        _ uuid: BluetoothUUID, at handle: AttributeHandle?, permissions: GATTPermissions = .readOnly,
        storage: GATTAttribute.Storage = .constant, value: [UInt8] = []
    ) {
        rows.append(
            Row(
                uuid: uuid,
                attribute: GATTAttribute(handle: 0, groupEnd: 0, permissions: permissions, storage: storage),
                value: value, wantedHandle: handle))
    }

    private mutating func append(
        _ uuid: BluetoothUUID, at handle: AttributeHandle?, permissions: GATTPermissions, value: GATTAttributeValue
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
        append(uuid, at: handle, permissions: permissions, storage: storage, value: octets)
    }

    private mutating func append(_ characteristic: GATTCharacteristicDefinition) throws(GATTDatabaseError) {
        // The declaration holds the handle of the value, which `assignHandles` fills in.
        append(
            .characteristic, at: characteristic.handle,
            value: written {
                $0.append(characteristic.declaredProperties.rawValue)
                $0.append(AttributeHandle(0))
                $0.append(characteristic.uuid)
            })
        try append(
            characteristic.uuid, at: characteristic.valueHandle, permissions: characteristic.permissions,
            value: characteristic.value)
        for descriptor in characteristic.allDescriptors {
            guard descriptor.uuid == .clientCharacteristicConfiguration else {
                try append(
                    descriptor.uuid, at: descriptor.handle, permissions: descriptor.permissions,
                    value: descriptor.value)
                continue
            }
            append(
                descriptor.uuid, at: descriptor.handle, permissions: descriptor.permissions,
                storage: .clientConfiguration(characteristic: 0, supported: characteristic.supportedConfiguration))
        }
    }

    // MARK: - Handles

    /// Where the service must start so that the first handle named by its definition fits; nil if it names none.
    func wantedStart() throws(GATTDatabaseError) -> AttributeHandle? {
        guard let index = rows.firstIndex(where: { $0.wantedHandle != nil }), let handle = rows[index].wantedHandle
        else { return nil }
        guard handle.rawValue > 0 else { throw .invalidHandle }
        guard Int(handle.rawValue) > index else {
            throw .handleOutOfOrder(handle, after: AttributeHandle(UInt16(truncatingIfNeeded: index)))
        }
        return AttributeHandle(handle.rawValue - UInt16(truncatingIfNeeded: index))
    }

    /// Assigns the handles: `first` to the first row, and to each other row the one its definition names, or the next
    /// one.
    mutating func assignHandles(from first: AttributeHandle) throws(GATTDatabaseError) -> GATTServiceHandles {
        guard first.rawValue > 0 else { throw .invalidHandle }
        var last = first
        for index in rows.indices {
            if index > 0 {
                if let wanted = rows[index].wantedHandle {
                    guard wanted > last else { throw .handleOutOfOrder(wanted, after: last) }
                    last = wanted
                } else {
                    guard last < .highest else { throw .noRoom(count: rows.count) }
                    last = AttributeHandle(last.rawValue + 1)
                }
            }
            rows[index].attribute.handle = last
            rows[index].attribute.groupEnd = last
        }
        let end = definition.endHandle ?? last
        guard end >= last else { throw .endBeforeLastAttribute(end: end, last: last) }
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
        let descriptors = characteristic.allDescriptors
        let added = descriptors.count - characteristic.descriptors.count
        for (index, descriptor) in descriptors.enumerated() {
            let handle = rows[next].attribute.handle
            if descriptor.uuid == .clientCharacteristicConfiguration {
                rows[next].attribute.storage = .clientConfiguration(
                    characteristic: value, supported: characteristic.supportedConfiguration)
                handles.clientConfiguration = handles.clientConfiguration ?? handle
            }
            if index >= added { handles.descriptors.append(handle) }
            next += 1
        }
        return handles
    }
}

extension GATTServiceDefinition {
    /// The handles that the service would get. If the definition names any handle, the first of them determines where
    /// the service starts; otherwise the service starts at `next`.
    ///
    /// - Throws: `GATTDatabaseError` if the handles that the definition names do not ascend, or a value is too long.
    public func handles(from next: AttributeHandle) throws(GATTDatabaseError) -> GATTServiceHandles {
        var layout = try GATTServiceLayout(self)
        let wanted = try layout.wantedStart()
        return try layout.assignHandles(from: wanted ?? next)
    }
}

extension GATTCharacteristicDefinition {
    /// The notifications and indications that go to every client because no client can subscribe.
    package var unconditional: GATTClientConfiguration {
        allDescriptors.contains { $0.uuid == .clientCharacteristicConfiguration } ? [] : supportedConfiguration
    }

    /// The added descriptors, followed by those of the definition.
    fileprivate var allDescriptors: [GATTDescriptorDefinition] {
        guard addsDescriptors else { return descriptors }
        var all: [GATTDescriptorDefinition] = []
        if !supportedConfiguration.isEmpty, !has(.clientCharacteristicConfiguration) {
            all.append(
                .init(
                    uuid: .clientCharacteristicConfiguration,
                    permissions: GATTPermissions(
                        read: .open, write: subscription,
                        writeNeedsAuthorization: permissions.readNeedsAuthorization,
                        minimumEncryptionKeySize: permissions.minimumEncryptionKeySize),
                    value: .constant([])))
        }
        if declaredProperties.contains(.extendedProperties), !has(.characteristicExtendedProperties) {
            all.append(
                .init(
                    uuid: .characteristicExtendedProperties,
                    value: .constant(written { $0.append(extendedProperties.rawValue) })))
        }
        return all + descriptors
    }

    private func has(_ descriptor: BluetoothUUID) -> Bool { descriptors.contains { $0.uuid == descriptor } }

    fileprivate var declaredProperties: GATTCharacteristicProperties {
        extendedProperties.isEmpty ? properties : properties.union(.extendedProperties)
    }

    fileprivate var supportedConfiguration: GATTClientConfiguration {
        var supported: GATTClientConfiguration = []
        if properties.contains(.notify) { supported.insert(.notifications) }
        if properties.contains(.indicate) { supported.insert(.indications) }
        return supported
    }
}

/// The octets that `body` writes.
private func written(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    body(&writer)
    return writer.bytes
}
