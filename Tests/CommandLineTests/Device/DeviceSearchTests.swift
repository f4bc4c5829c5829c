import ArgumentParser
import BluetoothLE
import Testing
import VirtualRadio

@testable import BluetoothCommandLine

/// The device that a command connects to, over a virtual radio.
struct DeviceSearchTests {
    /// A device that advertises a name.
    private static func device(named name: String, on radio: VirtualRadio) async throws -> Adapter {
        let adapter = try await Adapter.open(radio.addController())
        var advertisement = AdvertisementData()
        advertisement.localName = .complete(name)
        try await adapter.advertise(advertisement)
        return adapter
    }

    @Test("A device whose address has changed is found again by its name", .timeLimit(.minutes(30)))
    func rotation() async throws {
        let radio = VirtualRadio()
        let adapter = try await Adapter.open(radio.addController())
        var device = try await Self.device(named: "Clock", on: radio)
        var peers: [DeviceAddress] = []
        let pairing = try PairingOptions.parse([])
        try await DeviceSearch(within: Seconds(120)).withConnection(to: .name("Clock"), pairing, on: adapter) {
            connection, _ in
            peers.append(connection.address)
            guard peers.count == 1 else { return }
            await device.close()
            device = try await Self.device(named: "Clock", on: radio)
            throw BluetoothError.connectionFailed
        }
        #expect(Set(peers).count == 2)
        #expect(peers.last == device.information?.address)
        await device.close()
        await adapter.close()
    }

    @Test("The beginning of a name does not connect to the device", .timeLimit(.minutes(30)))
    func beginning() async throws {
        let radio = VirtualRadio()
        let adapter = try await Adapter.open(radio.addController())
        let device = try await Self.device(named: "BizCard", on: radio)
        let failure = await #expect(throws: CommandFailure.self) {
            try await DeviceSearch(within: Seconds(2)).connect(to: .name("Biz"), on: adapter)
        }
        #expect(failure?.status == .notFound)
        #expect(failure?.message == #""Biz" was not found in 2 s; did you mean "BizCard"?"#)
        await device.close()
        await adapter.close()
    }
}
