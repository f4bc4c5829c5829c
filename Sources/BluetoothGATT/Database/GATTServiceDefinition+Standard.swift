import BluetoothBase

/// The services that every device has (Core 5.4, Vol 3, Part C, 12 and Part G, 7).
extension GATTServiceDefinition {
    /// The Generic Access service.
    ///
    /// - Parameters:
    ///   - deviceName: At most 248 octets of UTF-8 (Part C, 12.1); a longer name is truncated.
    ///   - appearance: A value from the Assigned Numbers, 2.6; 0 for unknown.
    ///   - preferredConnectionParameters: The 8 octets of Part C, 12.3; omitted if nil.
    ///   - centralAddressResolution: Whether the device resolves private addresses as a central (Part C, 12.4); omitted
    ///     if nil.
    ///   - usesPrivateAddressesOnly: Whether the device uses only resolvable private addresses once it is bonded (Part
    ///     C, 12.5).
    ///   - encryptedDataKeyMaterial: The 24 octets that a peer needs to decrypt the device's encrypted advertising
    ///     data. They can be read over authenticated and authorized links, and are indicated when they change (Part C,
    ///     12.6); omitted if nil.
    ///   - securityLevels: The security required to use all services: pairs of octets, a mode and a level, any one of
    ///     which is sufficient (Part C, 12.7); omitted if empty.
    ///   - deviceNameWrite: The security required to write the name.
    ///   - appearanceWrite: The security required to write the appearance.
    public static func genericAccess(
        deviceName: String, appearance: UInt16 = 0, preferredConnectionParameters: [UInt8]? = nil,
        centralAddressResolution: Bool? = nil, usesPrivateAddressesOnly: Bool = false,
        encryptedDataKeyMaterial: [UInt8]? = nil, securityLevels: [UInt8] = [],
        deviceNameWrite: GATTPermissions.Requirement = .notAllowed,
        appearanceWrite: GATTPermissions.Requirement = .notAllowed
    ) -> GATTServiceDefinition {
        var service = GATTServiceDefinition(
            uuid: .genericAccess,
            characteristics: [
                .init(
                    uuid: .deviceName, properties: deviceNameWrite == .notAllowed ? .read : [.read, .write],
                    permissions: .init(read: .open, write: deviceNameWrite),
                    value: .variableLength(deviceName.utf8(upTo: 248), maximum: 248)),
                .init(
                    uuid: .appearance, properties: appearanceWrite == .notAllowed ? .read : [.read, .write],
                    permissions: .init(read: .open, write: appearanceWrite), value: .fixedLength(appearance.octets)),
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
            // The only defined value is 0.
            service.characteristics.append(
                .init(uuid: .resolvablePrivateAddressOnly, properties: .read, value: .constant([0])))
        }
        if let encryptedDataKeyMaterial {
            service.characteristics.append(
                .init(
                    uuid: .encryptedDataKeyMaterial, properties: [.read, .indicate],
                    permissions: .init(read: .authenticated, readNeedsAuthorization: true),
                    value: .fixedLength(encryptedDataKeyMaterial)))
        }
        if !securityLevels.isEmpty {
            service.characteristics.append(
                .init(uuid: .leGATTSecurityLevels, properties: .read, value: .constant(securityLevels)))
        }
        return service
    }

    /// The Generic Attribute service: Service Changed and Client Supported Features.
    ///
    /// - Parameters:
    ///   - hasDatabaseHash: Whether the service has a Database Hash (7.3). The application computes it when it is read,
    ///     because the server has no cipher.
    ///   - serverSupportedFeatures: The octet of Server Supported Features (7.4), or `.dynamic` if it depends on the
    ///     link; the characteristic is omitted if nil.
    public static func genericAttribute(
        hasDatabaseHash: Bool = false, serverSupportedFeatures: GATTAttributeValue? = nil
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
                .init(uuid: .serverSupportedFeatures, properties: .read, value: serverSupportedFeatures))
        }
        return service
    }
}

extension UInt16 {
    fileprivate var octets: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)] }
}

extension String {
    /// The UTF-8 of the longest prefix of whole characters that fits in `limit` octets.
    fileprivate func utf8(upTo limit: Int) -> [UInt8] {
        var octets: [UInt8] = []
        for character in self {
            guard octets.count + character.utf8.count <= limit else { break }
            octets += character.utf8
        }
        return octets
    }
}
