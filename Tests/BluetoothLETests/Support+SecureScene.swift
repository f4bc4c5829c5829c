import AdapterTestSupport
import Logging
import Testing
import VirtualRadio

@testable import BluetoothLE

/// A peripheral with values that need protection, and a central next to it.
struct SecureScene {
    let radio = VirtualRadio(time: .manual)
    let central, peripheral: Adapter, peripheralPort: VirtualRadio.Port
    let service: PublishedService
    let address: DeviceAddress

    static let encrypted: BluetoothUUID = "F101"
    static let authenticated: BluetoothUUID = "F102"
    static let notified: BluetoothUUID = "F103"

    init(
        centralBonds: MemoryBondStore = .init(), peripheralBonds: MemoryBondStore = .init(),
        logger: Logger? = nil, keyMaterial: [UInt8]? = nil,
        _ configure: (inout SecurityPolicy) -> Void = { _ in }
    ) async throws {
        var centralOptions = AdapterOptions(seed: 1), peripheralOptions = AdapterOptions(seed: 2)
        centralOptions.bonds = centralBonds
        peripheralOptions.bonds = peripheralBonds
        var policy = SecurityPolicy()
        configure(&policy)
        centralOptions.host.security?.policy = policy
        peripheralOptions.host.genericAccess.encryptedDataKeyMaterial = keyMaterial
        let ports = (radio.addController(), radio.addController())
        peripheralPort = ports.1
        let options = (centralOptions, peripheralOptions)
        (central, peripheral, service, address) = try await radio.passing {
            let central = try await Adapter.open(ports.0, options: options.0, logger: logger)
            let peripheral = try await Adapter.open(ports.1, options: options.1, logger: logger)
            let service = try await peripheral.publish(
                GATTServiceDefinition(
                    uuid: "F100",
                    characteristics: [
                        .init(
                            uuid: Self.encrypted, properties: [.read, .write],
                            permissions: GATTPermissions(read: .encrypted, write: .encrypted),
                            value: .variableLength([1])),
                        .init(
                            uuid: Self.authenticated, properties: .read,
                            permissions: GATTPermissions(read: .authenticated), value: .variableLength([2])),
                        .init(uuid: Self.notified, properties: .notify, value: .dynamic),
                    ]))
            try await peripheral.advertise(AdvertisementData(name: "Secure"))
            return (central, peripheral, service, try #require(peripheral.information?.address))
        }
    }

    func handle(_ uuid: BluetoothUUID) throws -> AttributeHandle { try #require(service[uuid]).handle }
}

extension Adapter {
    /// Opens an adapter that stores bonds and, on request, has a static address.
    static func open(
        _ port: VirtualRadio.Port, seed: UInt64, bonds: MemoryBondStore = MemoryBondStore(),
        address: DeviceAddress? = nil
    ) async throws -> Adapter {
        var options = AdapterOptions(seed: seed)
        options.bonds = bonds
        if let address { options.host.ownAddress = .staticRandom(address) }
        return try await open(port, options: options)
    }
}
