import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// A program on the bus that has requested something.
final class Client {
    /// The unique name.
    let name: String
    unowned let daemon: BusDaemon
    let user: SeamUser
    /// The filter of the client's discovery, kept while none is active.
    var filter: DiscoveryFilter?
    var discovery: Discovery?
    /// The values that the client may still send on each link.
    let credits = SendCredits()
    private(set) var applications: [ObjectPath: Application] = [:]
    private(set) var advertisements: [ObjectPath: Advertisement] = [:]
    private var registering: [ObjectPath: BusConnection.PendingCall] = [:]
    /// The client's signals, followed from its first application or monitor on. It is one rule for all of them, because
    /// a bus limits the number of rules.
    private var signals: BusConnection.Match?
    private(set) var monitors: [ObjectPath: MonitorApplication] = [:]

    init(_ name: String, _ daemon: BusDaemon) {
        self.name = name
        self.daemon = daemon
        user = SeamUser(daemon.runner, daemon.inbox)
    }

    /// Handles an event of the client's user.
    func received(_ event: UserEvent, _ batch: EventBatch) {
        switch event {
        case .ended(let token, let result): user.end(token, result)
        case .sightings(let token, let range): for index in range { sighted(batch.sightings[index], token) }
        case .readRequested(let request, let handle, let offset):
            application(with: handle)?.readRequested(request, handle, offset: offset)
        case .writeRequested(let request, let handle, let payload):
            application(with: handle)?.writeRequested(request, handle, [UInt8](batch.octets(of: payload)))
        case .executeRequested(let request, let writes):
            guard writes.count > 0 else { return user.post(.accept(request)) }
            application(with: writes.handle(at: 0))?.executeRequested(request, writes)
        case .written(let link, let handle, let payload):
            application(with: handle)?.written(link, handle, [UInt8](batch.octets(of: payload)))
        case .subscriptionChanged(let link, let change):
            application(with: change.characteristic)?.subscriptionChanged(link, change)
        case .authorizationRequested(let request, let handle, _):
            application(with: handle)?.authorizationRequested(request)
        case .sendCredit(let link, let count): credits.add(count, on: link)
        case .linkEnded(let link, _):
            credits.linkEnded(link)
            for application in applications.values { application.linkEnded(link) }
        case .advertisingSetEnded(let token, let error):
            advertisements.values.first { $0.token == token }?.ended(error)
        case .adapter, .periodic, .subevents, .linkBegan, .mtuChanged, .parametersChanged, .phyChanged, .power, .lost,
            .peerIdentified, .nameChanged, .servicesKnown, .servicesChanged, .securityChanged, .pairingEnded,
            .pairingAsked, .pairingShown, .bondRefused, .value, .subscriptionBegan, .channel, .requestExpired:
            return
        }
    }

    private func sighted(_ sighting: Sighting, _ token: CallToken) {
        if let discovery, discovery.token == token {
            daemon.devices.sighted(sighting, in: discovery.filter)
        } else {
            for application in monitors.values { application.sighted(sighting, token) }
        }
    }

    private func application(with handle: AttributeHandle) -> Application? {
        applications.values.first { $0.contains(handle) }
    }

    /// Calls a method of one of the client's objects.
    func call(
        _ path: ObjectPath, _ interface: String, _ member: String, _ values: [DBusValue] = [],
        timeout: Duration = Client.timeout, _ completion: @escaping (Result<[DBusValue], BusError>) -> Void
    ) -> BusConnection.PendingCall {
        daemon.bus.call(name, path, interface, member, values, timeout: timeout, completion: completion)
    }

    /// Calls a method of one of the client's objects, and does not wait for its end.
    func tell(_ path: ObjectPath, _ interface: String, _ member: String, _ values: [DBusValue] = []) {
        daemon.tree.flush()
        do throws(BusFailure) {
            let message = try daemon.bus.makeCall(to: name, path, interface, member)
            message.expectsReply = false
            try message.append(values)
            try daemon.bus.send(message)
        } catch {
            daemon.settings.report("\(name) was not called: \(error)")
        }
    }

    /// How long a client may take for an answer.
    static let timeout = Duration.seconds(20)

    // MARK: - What the client has registered

    /// Keeps the call that reads an object while it is being registered.
    func begin(_ path: ObjectPath, _ call: BusConnection.PendingCall) { registering[path] = call }
    func isRegistering(_ path: ObjectPath) -> Bool { registering[path] != nil }
    var registeringCount: Int { registering.count }

    /// Follows the client's signals, if that has not begun.
    func followSignals() throws(BusError) {
        guard signals == nil else { return }
        do throws(BusFailure) {
            signals = try daemon.bus.match("type='signal',sender='\(name)'") { [weak self] in self?.signaled($0) }
        } catch {
            throw .failed("The signals of the program cannot be followed: \(error)")
        }
    }

    func registered(_ path: ObjectPath) { registering[path] = nil }

    func keep(_ application: Application, at path: ObjectPath) { applications[path] = application }
    func keep(_ advertisement: Advertisement, at path: ObjectPath) { advertisements[path] = advertisement }
    func keep(_ monitors: MonitorApplication, at path: ObjectPath) { self.monitors[path] = monitors }
    func removeApplication(_ path: ObjectPath) -> Application? { applications.removeValue(forKey: path) }
    func removeAdvertisement(_ path: ObjectPath) -> Advertisement? { advertisements.removeValue(forKey: path) }
    func removeMonitors(_ path: ObjectPath) -> MonitorApplication? { monitors.removeValue(forKey: path) }

    /// Ends all advertising, because the adapter is switched off.
    func withdrawAdvertisements() {
        for advertisement in advertisements.values { advertisement.release() }
        advertisements = [:]
        daemon.adapter.advertisingChanged()
    }

    /// Ends everything that the client has registered, because the adapter is gone. Clients register again when it is
    /// back.
    func releaseRegistrations() {
        withdrawAdvertisements()
        for application in applications.values { application.withdraw {} }
        applications = [:]
        for application in monitors.values { application.release() }
        monitors = [:]
    }

    /// Releases everything, because the client is gone.
    func leave() {
        let hadApplications = !applications.isEmpty, hadAdvertisements = !advertisements.isEmpty
        discovery = nil
        registering = [:]
        signals = nil
        daemon.agents.clientLeft(self)
        daemon.devices.clientLeft(self)
        applications = [:]
        advertisements = [:]
        monitors = [:]
        user.detach()
        daemon.adapter.updateDiscovering()
        if hadApplications { daemon.adapter.changed("UUIDs") }
        if hadAdvertisements { daemon.adapter.advertisingChanged() }
    }
}
