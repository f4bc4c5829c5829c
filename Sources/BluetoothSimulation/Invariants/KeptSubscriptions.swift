import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The configurations of bonded clients, from the end of one link to the next (Core 5.4, Vol 3, Part G, 2.4).
extension ScenarioRun {
    /// The subscriptions that a server must keep for a bonded client, according to both its reports and its store,
    /// because the store may be behind.
    func kept(
        by server: Int, of client: Int, since beginning: Instant
    ) -> [(characteristic: SimulatedService.Characteristic, configuration: GATTClientConfiguration)] {
        guard let service = services[server], let published = publications[server], published < beginning,
            let told = keptSubscriptions[Way(station: server, peer: client)],
            let bond = bond(server, with: client)
        else { return [] }
        return bond.subscriptions.compactMap { stored in
            guard told[stored.characteristic] == stored.configuration,
                let characteristic = characteristic(of: stored.characteristic, at: server),
                service.characteristics[characteristic.rawValue].clientConfiguration == stored.descriptor
            else { return nil }
            return (characteristic, stored.configuration)
        }
    }

    /// Loads the kept subscriptions from the store when the process of a server restarts.
    func readKeptSubscriptions(of server: Int) {
        for client in runners.indices where client != server {
            let stored = bond(server, with: client)?.subscriptions ?? []
            keptSubscriptions[Way(station: server, peer: client)] = Dictionary(
                stored.map { ($0.characteristic, $0.configuration) }
            ) { $1 }
        }
    }
}
