import BluetoothBase
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// `/org/bluez/hci0`, which exists while the controller does.
final class AdapterObject {
    /// The life of the object.
    private enum Life: Equatable {
        /// There is no controller, so there is no object.
        case absent
        /// The object exists. The controller is ready, and used if `isOn`.
        case present(isOn: Bool)
        /// The object exists. The controller is being reset, and will be used again if `willBeOn`.
        case resetting(willBeOn: Bool)
    }

    unowned let daemon: BusDaemon
    let path: ObjectPath
    private var life = Life.absent
    private var chosenAlias: String?
    private(set) var isDiscoverable = false
    private(set) var discoverableTimeout: UInt32 = 180
    private var mayPair = true
    private(set) var pairableTimeout: UInt32 = 0
    private(set) var isDiscovering = false
    private var discoverableTimer: Timers.ID?
    private var pairableTimer: Timers.ID?

    init(_ daemon: BusDaemon) {
        self.daemon = daemon
        path = Paths.bluez.appending("hci\(daemon.settings.adapterNumber)")
    }

    /// Whether the adapter is ready, and no client has switched it off.
    var isPowered: Bool { life == .present(isOn: true) }

    var alias: String { chosenAlias ?? daemon.settings.name }

    /// Fails unless the adapter is powered.
    func requirePower() throws(BusError) {
        guard isPowered else { throw .notReady }
    }

    // MARK: - The controller

    func statusChanged(_ status: AdapterStatus) {
        switch status {
        case .opening, .unavailable: return
        case .ready: ready()
        case .resetting:
            guard case .present(let isOn) = life else { return }
            life = .resetting(willBeOn: isOn)
            if isOn { powerChanged() }
        case .lost, .closed:
            guard life != .absent else { return }
            stopActivities()
            for client in daemon.clients.values { client.releaseRegistrations() }
            daemon.devices.removeAll()
            life = .absent
            daemon.tree.remove(path)
            if status == .closed { daemon.stop() }
        }
    }

    private func ready() {
        switch life {
        case .present: return
        case .resetting(let willBeOn):
            life = .present(isOn: willBeOn)
            if willBeOn { powerChanged() }
        case .absent:
            life = .present(isOn: true)
            daemon.tree.export(self, as: Self.adapter, at: path)
            daemon.tree.export(self, as: Self.gattManager, at: path)
            daemon.tree.export(self, as: Self.advertisingManager, at: path)
            daemon.tree.export(self, as: Self.monitorManager, at: path)
            daemon.agents.adapterAppeared()
            // Bonded devices are known before they are seen.
            daemon.house.call(.bonds) { [weak self] result in
                guard case .success(.bonds(let bonds)) = result, let self else { return }
                for bond in bonds { daemon.devices.restore(bond) }
            }
        }
    }

    /// Switches the adapter on or off for all clients.
    func setPowered(_ isOn: Bool) throws(BusError) {
        guard case .present(let wasOn) = life else { throw .failed("The adapter is being reset; try again") }
        guard wasOn != isOn else { return }
        life = .present(isOn: isOn)
        if !isOn {
            stopActivities()
            daemon.devices.disconnectAll()
            for client in daemon.clients.values { client.withdrawAdvertisements() }
        }
        powerChanged()
    }

    private func powerChanged() {
        changed("Powered")
        if daemon.settings.profile == .current { changed("PowerState") }
        if !isPowered, isDiscoverable { setDiscoverable(false) }
        guard isPowered else { return stopActivities() }
        for client in daemon.clients.values {
            for application in client.monitors.values { application.resume() }
        }
    }

    private func stopActivities() {
        for client in daemon.clients.values {
            client.endDiscovery()
            for application in client.monitors.values { application.suspend() }
        }
        updateDiscovering()
    }

    func changed(_ property: String) { daemon.tree.changed(property, of: Self.adapter.name, at: path) }

    // MARK: - Discovery

    func updateDiscovering() {
        let isDiscovering = daemon.clients.values.contains { $0.discovery != nil }
        guard self.isDiscovering != isDiscovering else { return }
        self.isDiscovering = isDiscovering
        if !isDiscovering { daemon.devices.discoveryEnded() }
        changed("Discovering")
    }

    /// The number of advertisements may have changed.
    func advertisingChanged() {
        for property in ["ActiveInstances", "SupportedInstances"] {
            daemon.tree.changed(property, of: Self.advertisingManager.name, at: path)
        }
    }

    // MARK: - Settings

    func setAlias(_ alias: String) {
        chosenAlias = TextForm.alias(alias)
        changed("Alias")
    }

    func setDiscoverable(_ isDiscoverable: Bool) {
        daemon.timers.cancel(discoverableTimer)
        discoverableTimer = nil
        if isDiscoverable, discoverableTimeout > 0 {
            discoverableTimer = daemon.timers.schedule(after: .seconds(Int64(discoverableTimeout))) { [weak self] in
                self?.setDiscoverable(false)
            }
        }
        guard self.isDiscoverable != isDiscoverable else { return }
        self.isDiscoverable = isDiscoverable
        changed("Discoverable")
        for client in daemon.clients.values {
            for advertisement in client.advertisements.values { advertisement.renew() }
        }
    }

    func setDiscoverableTimeout(_ timeout: UInt32) {
        discoverableTimeout = timeout
        changed("DiscoverableTimeout")
        if isDiscoverable { setDiscoverable(true) }
    }

    func setPairable(_ isPairable: Bool) {
        daemon.timers.cancel(pairableTimer)
        pairableTimer = nil
        if isPairable, pairableTimeout > 0 {
            pairableTimer = daemon.timers.schedule(after: .seconds(Int64(pairableTimeout))) { [weak self] in
                self?.setPairable(false)
            }
        }
        let wasPairable = self.isPairable
        mayPair = isPairable
        if self.isPairable != wasPairable { changed("Pairable") }
    }

    /// Whether devices may start to pair. Like BlueZ, only with an agent.
    var isPairable: Bool { mayPair && daemon.agents.hasAgent }

    func setPairableTimeout(_ timeout: UInt32) {
        pairableTimeout = timeout
        changed("PairableTimeout")
        if mayPair { setPairable(true) }
    }
}
