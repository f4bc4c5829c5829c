import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSimulation
import Testing
import VirtualRadio

@Suite("From advertising to a notification")
struct ConnectionTests {
    @Test("A central connects, discovers services, receives a notification and disconnects")
    func aValueCrossesTheAir() throws {
        var world = HostWorld()
        let peripheral = world.start(), central = world.start()
        let handles = try world.hosts[peripheral].server.database.add(
            GATTServiceDefinition(
                uuid: HostWorld.service,
                characteristics: [GATTCharacteristicDefinition(uuid: HostWorld.characteristic, properties: .notify)]))
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        let mtu: Int? = world.next(central) {
            if case .link(_, .mtuChanged(let mtu)) = $0.event { mtu } else { nil }
        }
        #expect(mtu == 517)

        _ = try world.hosts[central].start(.discoverAll(includes: false), on: pair.centralLink, at: world.now)
        let discovered = world.next(central) { $0.event.completed }
        let result = try #require(discovered)
        guard case .database(let database) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(database.services.map(\.uuid) == ["1800", "1801", HostWorld.service])
        let characteristic = try #require(database.characteristics.first { $0.uuid == HostWorld.characteristic })
        let descriptor = try #require(database.descriptors(of: characteristic).first { $0.uuid == "2902" })

        _ = try world.hosts[central].start(
            .configure(descriptor: descriptor.handle, .notifications), on: pair.centralLink, at: world.now)
        let written = world.next(central) { $0.event.completed }
        #expect(written == .written)
        let value = handles.characteristics[0].value
        let text = Array("business card".utf8)
        let isSent = try world.hosts[peripheral].notify(value, value: text.span, on: pair.peripheralLink)
        #expect(isSent)
        let received: [UInt8]? = world.next(central) {
            if case .client(pair.centralLink, .notification(value, _)) = $0.event { $0.bytes } else { nil }
        }
        #expect(received == text)

        try world.hosts[central].disconnect(pair.centralLink, at: world.now)
        let gone = world.next(central) { $0.event.disconnection?.0 }
        #expect(gone == pair.centralLink)
        let alsoGone = world.next(peripheral) { $0.event.disconnection?.0 }
        #expect(alsoGone == pair.peripheralLink)
    }
}
