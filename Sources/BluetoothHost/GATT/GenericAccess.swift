import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT

/// What the Generic Access service says of this device, besides its name (Core 5.4, Vol 3, Part C, 12).
public struct GenericAccess: Equatable, Sendable {
    /// What the device looks like to its user (12.2).
    public var appearance = Appearance.unknown
    /// The connection parameters that the device would like to have as a peripheral (12.3); nil not to say.
    public var preferredConnectionParameters: ConnectionParameters?
    /// The octets of Encrypted Data Key Material, with which others read this device's encrypted advertising data: 16 of a key, 8
    /// of a vector (12.6). They are given over authenticated links, to whom `HostEvent.Server.authorizationRequested` is answered by
    /// `Host.authorize`. A shared host asks the user that has made the call `answerKeyMaterialRequests`, and refuses where there is
    /// none. Nil on a device that has none.
    public var encryptedDataKeyMaterial: [UInt8]?
    /// What it takes to use all services: any of these is enough (12.7). Empty not to say.
    public var securityLevels: [SecurityLevel] = []
    /// What it takes to change the name (12.1).
    public var deviceNameWrite = GATTPermissions.Requirement.notAllowed
    /// What it takes to change the appearance (12.2).
    public var appearanceWrite = GATTPermissions.Requirement.notAllowed

    /// A security mode and a level of it (10.2).
    public struct SecurityLevel: Hashable, Sendable {
        /// 1 to 3.
        public var mode: UInt8
        /// 1 to 4.
        public var level: UInt8

        public init(mode: UInt8, level: UInt8) {
            self.mode = mode
            self.level = level
        }
    }

    /// A device of which nothing is said but its name.
    public init() {}

    /// The service.
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
    /// Changes the Encrypted Data Key Material, and tells the peers that have subscribed to it (Core 5.4, Vol 3, Part C, 12.6).
    ///
    /// - Parameter octets: 24, a key and a vector.
    /// - Throws: `.notFound` where the host has none, see `GenericAccess`, `.valueNotSettable` for another number of octets.
    public mutating func setEncryptedDataKeyMaterial(_ octets: [UInt8], at now: Instant) throws(GATTDatabaseError) {
        try server.database.setValue(octets, of: ownServices.encryptedDataKeyMaterial)
        for slot in links.used { announceKeyMaterial(.changed(isSubscribed: wantsKeyMaterial(slot)), slot, at: now) }
    }

    /// Indicates the Encrypted Data Key Material to a peer for which it waits, where no other indication is unconfirmed.
    mutating func indicateKeyMaterial(_ slot: LinkSlot, at now: Instant) {
        guard links.at[slot.index].keyMaterial.isOwed else { return }
        announceKeyMaterial(.bearerFree(isSubscribed: wantsKeyMaterial(slot)), slot, at: now)
    }

    private func wantsKeyMaterial(_ slot: LinkSlot) -> Bool {
        isSubscribed(slot, toIndicationsOf: ownServices.encryptedDataKeyMaterial)
    }

    /// Performs what follows from an event of the indications of the key material.
    private mutating func announceKeyMaterial(
        _ event: KeyMaterialIndication.Event, _ slot: LinkSlot, at now: Instant
    ) {
        guard links.at[slot.index].keyMaterial.handle(event) == .indicate,
            let value = server.database.value(of: ownServices.encryptedDataKeyMaterial)
        else { return }
        // It fails where the value may not be sent over this link: then the peer has to read it.
        let isSent = try? indicate(
            ownServices.encryptedDataKeyMaterial, value: value.span, on: links.at[slot.index].identifier, at: now)
        if isSent == false { announceKeyMaterial(.bearerBusy, slot, at: now) }
    }
}
