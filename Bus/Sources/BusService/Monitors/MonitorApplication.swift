import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// The `org.bluez.AdvertisementMonitor1` objects of a client, with the passive scan that serves them.
final class MonitorApplication {
    private let path: ObjectPath
    private unowned let client: Client
    private var monitors: [ObjectPath: Monitor] = [:]
    private var token: CallToken?
    private var reading: BusConnection.PendingCall?
    /// The client's call that registers the monitors, until they are known.
    private var registration: MethodCall?

    /// The maximum number of monitors of an application.
    private static let limit = 64

    init(_ path: ObjectPath, _ client: Client) {
        self.path = path
        self.client = client
    }

    /// Whether an object is below the root of this application.
    func contains(_ path: ObjectPath) -> Bool { path.isBelow(self.path) || path == self.path }

    /// Reads the monitors, and answers the client.
    func begin(_ call: MethodCall) {
        registration = call
        reading = client.call(path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") { [weak self] result in
            guard let self else { return }
            reading = nil
            registration = nil
            let entries = (try? result.get())?.first?.entries ?? []
            let added = entries.filter { entry in entry.key.path.map { self.adds($0, entry.value) } ?? false }
            // Like BlueZ, the daemon releases invalid monitors before the reply, and activates others after it.
            call.reply()
            for path in added.compactMap(\.key.path) { activate(path) }
        }
    }

    func add(_ path: ObjectPath, _ interfaces: DBusValue) {
        if adds(path, interfaces) { activate(path) }
    }

    /// Adds a monitor, or releases it if it is invalid.
    private func adds(_ path: ObjectPath, _ interfaces: DBusValue) -> Bool {
        guard let properties = interfaces[Monitor.interface], monitors[path] == nil else { return false }
        guard monitors.count < Self.limit, contains(path), let monitor = Monitor(path, properties, client)
        else {
            client.tell(path, Monitor.interface, "Release")
            return false
        }
        monitors[path] = monitor
        return true
    }

    private func activate(_ path: ObjectPath) {
        client.tell(path, Monitor.interface, "Activate")
        scan()
    }

    func remove(_ path: ObjectPath) {
        monitors[path]?.end()
        monitors[path] = nil
        if monitors.isEmpty, let token {
            client.user.forget(token)
            self.token = nil
        }
    }

    private func scan() {
        guard token == nil, client.daemon.adapter.isPowered else { return }
        token = client.user.call(.scan(ScanFilter(), ScanParameters(isActive: false))) { [weak self] _ in
            self?.token = nil
        }
    }

    func sighted(_ sighting: borrowing Sighting, _ token: CallToken) {
        guard token == self.token else { return }
        for monitor in monitors.values { monitor.sighted(sighting) }
    }

    /// Scans again, because the adapter is usable again.
    func resume() {
        if !monitors.isEmpty { scan() }
    }

    /// Stops scanning, because the adapter is switched off.
    func suspend() {
        if let token { client.user.forget(token) }
        token = nil
    }

    /// Ends all monitors, and tells the client.
    func release() {
        for path in monitors.keys { client.tell(path, Monitor.interface, "Release") }
        end()
    }

    /// Ends all monitors.
    func end() {
        registration?.fail(.doesNotExist)
        registration = nil
        if let token { client.user.forget(token) }
        token = nil
        for monitor in monitors.values { monitor.end() }
        monitors = [:]
    }
}
