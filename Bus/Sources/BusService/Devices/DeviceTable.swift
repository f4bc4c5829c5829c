import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// The devices that are in range, connected, bonded or otherwise remembered.
final class DeviceTable {
    unowned let daemon: BusDaemon
    private var byPath: [ObjectPath: Device] = [:]
    private var byPeer: [PeerID: Device] = [:]
    private var byLink: [LinkIdentifier: Device] = [:]
    private var isSweeping = false

    /// The maximum number of devices. When it is reached, the devices that were not seen for the longest time are
    /// removed, unless they are connected or bonded.
    static let limit = 16_384
    /// The maximum number of devices that are kept only because a client connected to them once.
    static let acquaintanceLimit = 1024
    /// How long a device exists after it was last seen, as in BlueZ's configuration `TemporaryTimeout`.
    static let temporaryTime = Duration.seconds(30)
    private static let queueLimit = 4096
    private static let sweepInterval = Duration.seconds(5)

    init(_ daemon: BusDaemon) { self.daemon = daemon }

    subscript(path: ObjectPath) -> Device? { byPath[path] }
    subscript(peer: PeerID) -> Device? { byPeer[peer] }

    /// The device at the other end of a link.
    func connected(_ link: LinkIdentifier) -> Device? { byLink[link] }

    // MARK: - Discovery

    func sighted(_ sighting: borrowing Sighting, in filter: DiscoveryFilter) {
        // A bus that is behind gets no more signals than it can take. Newer sightings follow.
        guard !sighting.isAnonymous, daemon.bus.queuedMessages < Self.queueLimit else { return }
        if let device = byPeer[sighting.peer] {
            device.sighted(sighting, reportsDuplicates: filter.reportsDuplicates)
        } else if filter.matches(sighting), let device = add(sighting.peer, at: sighting.address) {
            device.sighted(sighting, reportsDuplicates: filter.reportsDuplicates)
            export(device)
        }
    }

    /// A device for an advertisement that a monitor matched.
    func monitored(_ sighting: borrowing Sighting) -> Device? {
        guard !sighting.isAnonymous else { return nil }
        if let device = byPeer[sighting.peer] {
            device.sighted(sighting, reportsDuplicates: false)
            return device
        }
        guard let device = add(sighting.peer, at: sighting.address) else { return nil }
        device.sighted(sighting, reportsDuplicates: false)
        export(device)
        return device
    }

    /// Forgets the signal strengths, because nothing measures them any more.
    func discoveryEnded() {
        for device in byPath.values { device.discoveryEnded() }
    }

    // MARK: - Adding and removing

    /// Adds a device that is not exported yet. Nil if another device has its path: BlueZ's paths do not distinguish a
    /// public and a random address.
    private func add(_ peer: PeerID, at address: DeviceAddress) -> Device? {
        let path = daemon.adapter.path.appending("dev_" + TextForm.address(peer.firstAddress, separator: "_"))
        guard byPath[path] == nil else { return nil }
        if byPath.count >= Self.limit { makeRoom() }
        guard byPath.count < Self.limit else { return nil }
        let device = Device(peer, address, path, daemon)
        byPath[path] = device
        byPeer[peer] = device
        sweepLater()
        return device
    }

    private func export(_ device: Device) {
        daemon.tree.export(device, as: Device.interface, at: device.path)
        if daemon.settings.profile == .bookworm { return }
        daemon.tree.export(device, as: Device.lowEnergyBearer, at: device.path)
    }

    /// Adds a bonded device.
    func restore(_ bond: Bond) {
        guard byPeer[bond.peer] == nil, let device = add(bond.peer, at: bond.address) else { return }
        device.restore(bond)
        export(device)
    }

    /// Removes a device with its bond, and disconnects it.
    func remove(_ device: Device, _ call: MethodCall) {
        device.disconnect { [weak self] in
            guard let self else { return }
            let peer = device.peer
            forget(device)
            daemon.house.post(.forgetAttributes(peer))
            // It may have no bond.
            daemon.house.call(.removeBond(peer)) { _ in call.reply() }
        }
    }

    /// Removes all devices, because the adapter is gone.
    func removeAll() {
        for device in byPath.values.sorted(by: { $0.path.description < $1.path.description }) {
            device.adapterRemoved()
            forget(device)
        }
        byLink = [:]
    }

    func disconnectAll() {
        for device in byPath.values { device.disconnect {} }
    }

    private func forget(_ device: Device) {
        device.removeServices()
        daemon.tree.remove(device.path)
        byPath[device.path] = nil
        for peer in device.peers where byPeer[peer] === device { byPeer[peer] = nil }
    }

    /// Looks for devices to remove, in a while.
    func sweepLater() {
        guard !isSweeping else { return }
        isSweeping = true
        daemon.timers.schedule(after: Self.sweepInterval) { [weak self] in self?.sweep() }
    }

    /// Removes the devices that were not seen for a while.
    private func sweep() {
        isSweeping = false
        let now = MonotonicClock.microseconds
        let limit = UInt64(Self.temporaryTime / .microseconds(1))
        var areTemporary = false
        for device in byPath.values where device.isTemporary {
            if now - device.lastSeen > limit { forget(device) } else { areTemporary = true }
        }
        if areTemporary { sweepLater() }
    }

    /// Removes the half of the removable devices that was not seen for the longest time.
    private func makeRoom() {
        let removable = byPath.values.filter(\.isRemovable).sorted { $0.lastSeen < $1.lastSeen }
        for device in removable.prefix((removable.count + 1) / 2) { forget(device) }
    }

    /// Keeps the number of devices limited that clients connected to.
    func acquaintanceMade() {
        let known = byPath.values.filter { !$0.isTemporary && $0.isRemovable }
        guard known.count > Self.acquaintanceLimit, let oldest = known.min(by: { $0.lastSeen < $1.lastSeen }) else {
            return
        }
        forget(oldest)
    }

    // MARK: - Links

    func linkBegan(_ link: LinkIdentifier, _ information: LinkInformation) {
        guard let device = byPeer[information.peer] ?? introduce(information) else { return }
        byLink[link] = device
        device.linkBegan(link, information)
    }

    /// Adds a device that connected to this one.
    private func introduce(_ information: LinkInformation) -> Device? {
        guard let device = add(information.peer, at: information.address) else { return nil }
        export(device)
        return device
    }

    func linkEnded(_ link: LinkIdentifier, _ reason: DisconnectReason) {
        byLink.removeValue(forKey: link)?.linkEnded(link, reason)
    }

    /// The device of a link turned out to be a known peer.
    func identified(_ link: LinkIdentifier, as peer: PeerID) {
        guard let device = byLink[link], byPeer[peer] !== device else { return }
        // BlueZ also keeps the object that is connected.
        if let other = byPeer[peer] { forget(other) }
        for earlier in device.peers.dropFirst() { byPeer[earlier] = nil }
        byPeer[peer] = device
        device.identified(as: peer)
    }

    func clientLeft(_ client: Client) {
        for device in byPath.values { device.clientLeft(client) }
    }
}
