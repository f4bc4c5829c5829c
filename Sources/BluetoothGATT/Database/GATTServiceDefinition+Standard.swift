import BluetoothBase

/// The services every device has (Core 5.4, Vol 3, Part C, 12 and Part G, 7).
extension GATTServiceDefinition {
    /// The Generic Access service.
    ///
    /// - Parameters:
    ///   - deviceName: At most 248 octets of UTF-8 (Part C, 12.1); a longer name is cut.
    ///   - appearance: A value of the Assigned Numbers, 2.6; 0 for unknown.
    ///   - preferredConnectionParameters: The 8 octets of Part C, 12.3; left out if nil.
    ///   - centralAddressResolution: Whether the device resolves private addresses as a central (Part C, 12.4); left
    ///     out if nil.
    ///   - usesPrivateAddressesOnly: Whether the device uses resolvable private addresses only once it is bonded (Part C,
    ///     12.5).
    public static func genericAccess(
        deviceName: String, appearance: UInt16 = 0, preferredConnectionParameters: [UInt8]? = nil,
        centralAddressResolution: Bool? = nil, usesPrivateAddressesOnly: Bool = false
    ) -> GATTServiceDefinition {
        var service = GATTServiceDefinition(
            uuid: .genericAccess,
            characteristics: [
                .init(
                    uuid: .deviceName, properties: .read,
                    value: .variableLength(deviceName.utf8(upTo: 248), maximum: 248)),
                .init(uuid: .appearance, properties: .read, value: .fixedLength(appearance.octets)),
            ])
        if let preferredConnectionParameters {
            service.characteristics.append(
                .init(
                    uuid: .peripheralPreferredConnectionParameters, properties: .read,
                    value: .fixedLength(preferredConnectionParameters)))
        }
        if let centralAddressResolution {
            service.characteristics.append(
                .init(
                    uuid: .centralAddressResolution, properties: .read,
                    value: .fixedLength([centralAddressResolution ? 1 : 0])))
        }
        if usesPrivateAddressesOnly {
            // 0 says so; other values are reserved.
            service.characteristics.append(
                .init(uuid: .resolvablePrivateAddressOnly, properties: .read, value: .constant([0])))
        }
        return service
    }

    /// The Generic Attribute service: Service Changed and Client Supported Features.
    ///
    /// - Parameters:
    ///   - hasDatabaseHash: Whether there is a Database Hash (7.3), which the application computes when it is read: the server
    ///     has no cipher.
    ///   - serverSupportedFeatures: The octet of Server Supported Features (7.4); the characteristic is left out if nil.
    public static func genericAttribute(
        hasDatabaseHash: Bool = false, serverSupportedFeatures: UInt8? = nil
    ) -> GATTServiceDefinition {
        var service = GATTServiceDefinition(
            uuid: .genericAttribute,
            characteristics: [
                .init(
                    uuid: .serviceChanged, properties: .indicate, permissions: .init(),
                    value: .fixedLength([0, 0, 0, 0])),
                .init(
                    uuid: .clientSupportedFeatures, properties: [.read, .write], value: .clientSupportedFeatures),
            ])
        if hasDatabaseHash {
            service.characteristics.append(.init(uuid: .databaseHash, properties: .read, value: .dynamic))
        }
        if let serverSupportedFeatures {
            service.characteristics.append(
                .init(
                    uuid: .serverSupportedFeatures, properties: .read, value: .constant([serverSupportedFeatures])))
        }
        return service
    }
}

extension UInt16 {
    fileprivate var octets: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)] }
}

extension String {
    /// The UTF-8 of the longest run of whole characters that fits into `limit` octets.
    fileprivate func utf8(upTo limit: Int) -> [UInt8] {
        var octets: [UInt8] = []
        for character in self {
            guard octets.count + character.utf8.count <= limit else { break }
            octets += character.utf8
        }
        return octets
    }
}
