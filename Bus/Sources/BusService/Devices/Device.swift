import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// A remote device.
final class Device {
    unowned let daemon: BusDaemon
    let path: ObjectPath
    /// The peer that the device was found as, and the one that it was identified as.
    private(set) var peers: [PeerID]
    /// The address that clients see. It changes if the device turns out to have an identity address.
    private(set) var address: DeviceAddress
    /// When the device was last seen, in microseconds of the monotonic clock.
    private(set) var lastSeen = MonotonicClock.microseconds
    private(set) var name: String?
    private(set) var chosenAlias: String?
    private(set) var isTrusted = false
    private(set) var isBlocked = false
    private(set) var isBonded = false
    private(set) var isPaired = false
    private var hasUnannouncedPairing = false
    private(set) var advertised = Advertised()
    /// Whether a client has connected or paired, after which the device is remembered.
    private(set) var isAcquainted = false
    var link = DeviceLink.none
    /// The last `MTU` of the characteristics.
    var announcedMTU: Int?
    /// The clients' calls that wait for a link.
    var connecting: PendingConnect?
    var disconnects: [() -> Void] = []
    var pairing: PendingPair?
    /// The services, also while the device is disconnected.
    var services: [RemoteService] = []
    /// The services that were discovered, including those without an object; nil if they are not known.
    var resolvedUUIDs: [BluetoothUUID]?
    var resolution = Resolution.none
    /// Whether the host follows changes of the device's services on this link.
    var areChangesFollowed = false
    var battery: Battery?
    /// The vendor, product and version, if the device has told them.
    private(set) var modalias: String?

    init(_ peer: PeerID, _ address: DeviceAddress, _ path: ObjectPath, _ daemon: BusDaemon) {
        peers = [peer]
        self.address = address
        self.path = path
        self.daemon = daemon
    }

    /// The peer as the adapter knows it now.
    var peer: PeerID { peers[peers.count - 1] }

    /// Whether the services are known on this link.
    var areServicesResolved: Bool { resolution == .resolved }

    /// Whether the device disappears when it is not seen for a while.
    var isTemporary: Bool { !isAcquainted && isRemovable }

    /// Whether nobody needs the device now.
    var isRemovable: Bool { !isBonded && !isTrusted && !isBlocked && link.identifier == nil && connecting == nil }

    var alias: String { chosenAlias ?? name ?? TextForm.address(address, separator: "-") }

    /// The services that the device has, or advertises while they are not known.
    var serviceUUIDs: [String] {
        guard let resolvedUUIDs else { return advertised.serviceUUIDs.map(TextForm.uuid) }
        return resolvedUUIDs.map(TextForm.uuid).sorted()
    }

    func changed(_ property: String) { changed([property]) }

    private func changed(_ properties: [String]) {
        guard !properties.isEmpty else { return }
        daemon.tree.changed(properties, of: Self.interface.name, at: path)
    }

    // MARK: - Advertising

    func sighted(_ sighting: borrowing Sighting, reportsDuplicates: Bool) {
        lastSeen = MonotonicClock.microseconds
        if address != sighting.address, !sighting.address.isPrivate { setAddress(sighting.address) }
        changed(advertised.update(sighting, at: lastSeen, reportsDuplicates: reportsDuplicates))
        // A name that was read from the device is better than one that may be shortened.
        if let heard = advertised.name, heard != name, name == nil || link.identifier == nil { setName(heard) }
    }

    func discoveryEnded() {
        changed(advertised.forgetSignal())
    }

    // MARK: - Names

    private func setName(_ name: String) {
        self.name = name
        changed("Name")
        if chosenAlias == nil { changed("Alias") }
    }

    /// The value of the Device Name characteristic.
    func nameRead(_ name: String) {
        let name = BusText.valid(name)
        if name != self.name, !name.isEmpty { setName(name) }
    }

    /// The value of the PnP ID characteristic.
    func productRead(_ modalias: String) {
        guard self.modalias != modalias else { return }
        self.modalias = modalias
        changed("Modalias")
    }

    func setAlias(_ alias: String) {
        chosenAlias = TextForm.alias(alias)
        changed("Alias")
    }

    private func setAddress(_ address: DeviceAddress) {
        let text = TextForm.address(self.address), type = TextForm.addressType(self.address)
        self.address = address
        if TextForm.address(address) != text { changed("Address") }
        if TextForm.addressType(address) != type { changed("AddressType") }
    }

    func identified(as peer: PeerID) {
        peers = [peers[0], peer]
        setAddress(peer.firstAddress)
    }

    // MARK: - Trust

    func setTrusted(_ isTrusted: Bool) {
        guard self.isTrusted != isTrusted else { return }
        self.isTrusted = isTrusted
        if !isTrusted { released() }
        changed("Trusted")
    }

    /// Refuses the device's connections.
    func setBlocked(_ isBlocked: Bool) {
        guard self.isBlocked != isBlocked else { return }
        self.isBlocked = isBlocked
        changed("Blocked")
        if isBlocked { disconnect {} } else { released() }
    }

    /// Something that kept the device has ended. If nothing else does, it disappears after a while.
    func released() {
        lastSeen = MonotonicClock.microseconds
        daemon.devices.sweepLater()
    }

    func acquaint() {
        guard !isAcquainted else { return }
        isAcquainted = true
        daemon.devices.acquaintanceMade()
    }

    func restore(_ bond: Bond) {
        isBonded = true
        isPaired = true
        name = bond.name.map(BusText.valid)
    }

    func securityChanged(_ security: LinkSecurity) {
        setPaired(security.isEncrypted || security.isBonded, security.isBonded)
    }

    func setPaired(_ isPaired: Bool, _ isBonded: Bool) {
        if self.isBonded != isBonded {
            self.isBonded = isBonded
            changed("Bonded")
        }
        if self.isPaired != isPaired {
            self.isPaired = isPaired
            hasUnannouncedPairing = true
        }
        if !isPaired || isBonded { pairingSettled() }
    }

    /// The pairing has ended. Like BlueZ, the daemon announces it together with the services.
    func pairingSettled() {
        if !isPaired || areServicesResolved || resolution == .none { announcePairing() }
    }

    func announcePairing() {
        guard hasUnannouncedPairing else { return }
        hasUnannouncedPairing = false
        changed("Paired")
    }
}

extension DeviceAddress {
    /// Whether the address changes from time to time.
    fileprivate var isPrivate: Bool { !isIdentity }
}

/// The discovery of a device's services on a link.
enum Resolution: Equatable {
    case none
    /// In progress, for this number of times in a row. If the services have changed since, what is found is outdated.
    case pending(attempt: Int, isOutdated: Bool)
    /// The services are known, but the host does not follow their changes yet.
    case found(DiscoveredDatabase, [AttributeHandle: GATTExtendedProperties])
    case resolved
}

/// The link to a device.
enum DeviceLink {
    case none
    case connected(LinkIdentifier, LinkInformation)

    var identifier: LinkIdentifier? {
        if case .connected(let link, _) = self { link } else { nil }
    }

    var information: LinkInformation? {
        if case .connected(_, let information) = self { information } else { nil }
    }
}
