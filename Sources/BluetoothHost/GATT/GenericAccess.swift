import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT

/// The contents of the Generic Access service, except the device name (Core 5.4, Vol 3, Part C, 12).
public struct GenericAccess: Equatable, Sendable {
    /// The external appearance of the device (12.2).
    public var appearance = Appearance.unknown
    /// The connection parameters that the device prefers as a peripheral (12.3); nil to omit the characteristic.
    public var preferredConnectionParameters: ConnectionParameters?
    /// The octets of Encrypted Data Key Material, with which peers decrypt this device's encrypted advertising data: a
    /// key of 16 octets and an initialization vector of 8 (12.6). A peer can read them over an authenticated link, once
    /// `HostEvent.Server.authorizationRequested` has been answered by `Host.authorize`. A shared host asks the user
    /// that has made the call `answerKeyMaterialRequests`, and refuses if there is no such user. Nil on a device
    /// without key material.
    public var encryptedDataKeyMaterial: [UInt8]?
    /// The security levels that give access to all services: any one of them suffices (12.7). Empty to omit the
    /// characteristic.
    public var securityLevels: [SecurityLevel] = []
    /// The requirement for writing the device name (12.1).
    public var deviceNameWrite = GATTPermissions.Requirement.notAllowed
    /// The requirement for writing the appearance (12.2).
    public var appearanceWrite = GATTPermissions.Requirement.notAllowed

    /// A security mode and level (10.2).
    public struct SecurityLevel: Hashable, Sendable {
        /// The security mode, 1 to 3.
        public var mode: UInt8
        /// The security level, 1 to 4.
        public var level: UInt8

        /// Creates a pair of a security mode, 1 to 3, and a level of this mode. The values are not checked.
        public init(mode: UInt8, level: UInt8) {
            self.mode = mode
            self.level = level
        }
    }

    /// Creates the contents for a device that publishes only its name.
    public init() {}

    /// The definition of the service.
    func service(
        deviceName: String, centralAddressResolution: Bool?, usesPrivateAddressesOnly: Bool
    ) -> GATTServiceDefinition {
        .genericAccess(
            deviceName: deviceName, appearance: appearance.rawValue,
            preferredConnectionParameters: preferredConnectionParameters.map {
                var writer = ByteWriter()
                writer.append($0)
                return writer.bytes
            },
            centralAddressResolution: centralAddressResolution, usesPrivateAddressesOnly: usesPrivateAddressesOnly,
            encryptedDataKeyMaterial: encryptedDataKeyMaterial,
            securityLevels: securityLevels.flatMap { [$0.mode, $0.level] }, deviceNameWrite: deviceNameWrite,
            appearanceWrite: appearanceWrite)
    }
}

extension Host {
    /// Changes the Encrypted Data Key Material, and indicates it to the peers that have subscribed to it (Core 5.4, Vol
    /// 3, Part C, 12.6).
    ///
    /// - Parameter octets: the key and the initialization vector, 24 octets.
    /// - Throws: `.notFound` if the host has no key material, see `GenericAccess`; `.valueNotSettable` if the number of
    ///   octets is wrong.
    public mutating func setEncryptedDataKeyMaterial(_ octets: [UInt8], at now: Instant) throws(GATTDatabaseError) {
        try server.database.setValue(octets, of: ownServices.encryptedDataKeyMaterial)
        for slot in links.used { announceKeyMaterial(.changed(isSubscribed: wantsKeyMaterial(slot)), slot, at: now) }
    }

    /// Indicates the Encrypted Data Key Material to a peer that is waiting for it, unless another indication is
    /// unconfirmed.
    mutating func indicateKeyMaterial(_ slot: LinkSlot, at now: Instant) {
        guard links.at[slot.index].keyMaterial.isOwed else { return }
        announceKeyMaterial(.bearerFree(isSubscribed: wantsKeyMaterial(slot)), slot, at: now)
    }

    private func wantsKeyMaterial(_ slot: LinkSlot) -> Bool {
        isSubscribed(slot, toIndicationsOf: ownServices.encryptedDataKeyMaterial)
    }

    /// Handles an event of the key material's indications, and performs the effect.
    private mutating func announceKeyMaterial(
        _ event: KeyMaterialIndication.Event, _ slot: LinkSlot, at now: Instant
    ) {
        guard links.at[slot.index].keyMaterial.handle(event) == .indicate,
            let value = server.database.value(of: ownServices.encryptedDataKeyMaterial)
        else { return }
        // Fails if the value must not be sent over this link. The peer then has to read it.
        let isSent = try? indicate(
            ownServices.encryptedDataKeyMaterial, value: value.span, on: links.at[slot.index].identifier, at: now)
        if isSent == false { announceKeyMaterial(.bearerBusy, slot, at: now) }
    }
}
