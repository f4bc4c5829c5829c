import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// A scan for a client.
struct Discovery {
    let token: CallToken
    let filter: DiscoveryFilter
}

extension Client {
    func startDiscovery(_ call: MethodCall) throws(BusError) {
        guard discovery == nil else { throw .busy }
        let filter = filter ?? .none
        scan(filter)
        // The scan has begun, or failed, when a later call has ended.
        user.barrier { [weak self] in
            guard let self, discovery != nil else { return call.fail(.failed("The scan could not be started")) }
            daemon.adapter.updateDiscovering()
            call.reply()
        }
    }

    private func scan(_ filter: DiscoveryFilter) {
        let token = user.call(.scan(filter.scanFilter, ScanParameters())) { [weak self] _ in
            guard let self else { return }
            discovery = nil
            daemon.adapter.updateDiscovering()
        }
        discovery = Discovery(token: token, filter: filter)
    }

    /// Changes the filter, also of the discovery in progress.
    func setFilter(_ filter: DiscoveryFilter, _ call: MethodCall) {
        self.filter = filter.isSet ? filter : nil
        if let discovery, discovery.filter != filter {
            user.forget(discovery.token)
            scan(filter)
        }
        call.reply()
    }

    func stopDiscovery(_ call: MethodCall) throws(BusError) {
        guard discovery != nil else { throw .failed("No discovery started") }
        endDiscovery()
        // BlueZ forgets the filter with the session.
        filter = nil
        daemon.adapter.updateDiscovering()
        call.reply()
    }

    func endDiscovery() {
        guard let discovery else { return }
        self.discovery = nil
        user.forget(discovery.token)
    }
}
