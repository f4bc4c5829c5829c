import BluetoothLE
import GatewayESPHome

/// The adapters of a gateway, as used by clients of ESPHome's API.
struct FleetRadio: ProxyRadio {
    let fleet: AdapterFleet
    let table: ConnectionTable
    let allowsPairing: Bool

    /// The time limit for an attempt to connect. Clients stop waiting earlier.
    private static let timeout = Duration.seconds(30)

    var places: ProxyPlaces { ProxyPlaces(limit: table.limit, taken: table.taken) }

    var scanning: ProxyScanning {
        ProxyScanning(
            isRunning: fleet.isScanning, isActive: fleet.mode.isActive,
            isActiveByConfiguration: fleet.mode.isActiveByConfiguration)
    }

    func scan(isActive: Bool?, for client: ProxyClientID) { fleet.mode.wish(isActive, by: client) }

    func connect(to device: DeviceAddress, for client: ProxyClientID) async throws(ProxyError) -> any ProxyLink {
        do throws(ConnectionTable.Refusal) {
            try table.take(device)
        } catch {
            throw error == .full ? .noConnection : .busy
        }
        do throws(BluetoothError) {
            guard let (adapter, _) = fleet.adapter(for: device) else { throw .notReady }
            let connection = try await adapter.connect(to: device, timeout: Self.timeout)
            return try await ConnectionLink(connection) { [table] in table.giveBack(device) }
        } catch {
            table.giveBack(device)
            throw ProxyError(connecting: error)
        }
    }

    func unpair(_ device: DeviceAddress) async throws(ProxyError) {
        do throws(BluetoothError) { try await fleet.unpair(device) } catch { throw ProxyError(error) }
    }

    func forgetServices(of device: DeviceAddress) async throws(ProxyError) {
        do throws(BluetoothError) {
            for adapter in fleet.open { try await adapter.forgetServices(of: PeerID(device)) }
        } catch {
            throw ProxyError(error)
        }
    }
}
