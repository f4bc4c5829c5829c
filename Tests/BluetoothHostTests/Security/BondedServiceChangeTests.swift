import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

/// Bonded clients do not ask again for what they have subscribed to (Core 5.4, Vol 3, Part G, 2.5.2 and 7.1).
@Suite("A bonded peer is notified of services that changed while it was away")
struct BondedServiceChangeTests {
    private static let indication = [bytes("4100 0B00 0700 0400 1D 0800 0100 FFFF")]

    /// A host with a bond whose peer has subscribed to Service Changed, and knows of services with this hash.
    private func bonded(
        _ hash: UInt128?, subscribes: Bool = true, features: GATTClientSupportedFeatures = []
    ) throws -> ScriptedController {
        var controller = SecurityTests.bonded()
        var bond = try #require(controller.host.bonds.first)
        bond.subscriptions =
            subscribes ? [GATTSubscription(characteristic: 8, descriptor: 9, configuration: .indications)] : []
        bond.servedDatabaseHash = hash
        bond.clientSupportedFeatures = features
        controller.host.restore(bond, at: controller.now)
        controller.settle()
        return controller
    }

    /// What the peer gets when it is back, and its link is encrypted.
    private func reconnect(_ controller: inout ScriptedController) throws -> [[UInt8]] {
        _ = try controller.accept()
        _ = controller.takeData()
        controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
        #expect(controller.takeData() == [])
        controller.receive(EncryptionChange(status: .success, connectionHandle: 0x41, encryption: .on))
        // After links that end at once the host would wait before it advertises again.
        controller.run(for: .seconds(1))
        return controller.takeData()
    }

    private func hash(_ controller: ScriptedController) throws -> UInt128? {
        try #require(controller.host.bonds.first).servedDatabaseHash
    }

    @Test("The change is indicated once, and again if it was not confirmed")
    func away() throws {
        var controller = try bonded(1)
        #expect(try reconnect(&controller) == Self.indication)
        controller.reportDisconnection(0x41)
        #expect(try hash(controller) == 0)

        #expect(try reconnect(&controller) == Self.indication)
        controller.receiveFrame(bytes("1E"), on: 0x04, 0x41)
        controller.reportDisconnection(0x41)
        let known = try #require(try hash(controller))
        #expect(known != 1)
        #expect(try reconnect(&controller) == [])
        controller.reportDisconnection(0x41)

        // In the same run as well.
        _ = try controller.host.addService(ServiceChangedTests.definition, at: controller.now)
        #expect(try reconnect(&controller) == Self.indication)
        controller.receiveFrame(bytes("1E"), on: 0x04, 0x41)
        controller.reportDisconnection(0x41)
        #expect(try hash(controller) != known)
    }

    @Test("No indication is sent without a subscription, or without a stored hash")
    func notTold() throws {
        var unsubscribed = try bonded(1, subscribes: false)
        #expect(try reconnect(&unsubscribed) == [])
        var unknown = try bonded(nil)
        #expect(try reconnect(&unknown) == [])
        unknown.reportDisconnection(0x41)
        #expect(try hash(unknown) != nil)
    }

    @Test("A client with robust caching gets Database Out Of Sync until it is change-aware, even on later links")
    func robustCaching() throws {
        let read = bytes("0A 0300"), outOfSync = [bytes("4100 0900 0500 0400 01 0A 0300 12")]
        var controller = try bonded(1, subscribes: false, features: .robustCaching)
        for _ in 0..<2 {
            #expect(try reconnect(&controller) == [])
            controller.receiveFrame(read, on: 0x04, 0x41)
            #expect(controller.takeData() == outOfSync)
            controller.reportDisconnection(0x41)
            #expect(try hash(controller) == 0)
        }
        #expect(try reconnect(&controller) == [])
        controller.receiveFrame(read, on: 0x04, 0x41)
        #expect(controller.takeData() == outOfSync)
        controller.receiveFrame(read, on: 0x04, 0x41)
        #expect(controller.takeData().first?[8] == 0x0B)
        controller.reportDisconnection(0x41)
        #expect(try hash(controller) != 0)
        #expect(try reconnect(&controller) == [])
        controller.receiveFrame(read, on: 0x04, 0x41)
        #expect(controller.takeData().first?[8] == 0x0B)
    }

    @Test("The database hash that the peer knows is stored from pairing on")
    func paired() throws {
        var world = HostWorld()
        let central = world.startSecure(), peripheral = world.startSecure()
        let pair = try world.connectSecure(central, to: peripheral)
        let known = try #require(try world.bond(pair).peripheral.servedDatabaseHash)
        #expect(known != 0)
        _ = try world.hosts[peripheral].addService(ServiceChangedTests.definition, at: world.now)
        world.disconnect(pair)
        #expect(world.hosts[peripheral].bonds.first?.servedDatabaseHash != known)
    }
}
