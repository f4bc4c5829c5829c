import AdapterTestSupport
import BluetoothAdapter
import BluetoothUsers
import Testing
import VirtualRadio

@testable import BluetoothHost
@testable import BluetoothLE

@Suite("Several adapters on one controller", .timeLimit(.minutes(30)))
struct SharingTests {
    /// A peripheral, and two adapters that share the controller which finds it.
    struct Pair {
        let radio = VirtualRadio(time: .manual)
        let peripheral: Adapter
        let service: PublishedService
        let runner: AdapterRunner
        let users: [Adapter]
        let links: [Connection]

        init() async throws {
            let radio = radio
            let runner = try AdapterRunner(
                radio.addController(), options: AdapterOptions(host: HostConfiguration(seed: 1)))
            let users = [Adapter(runner), Adapter(runner)]
            (self.runner, self.users) = (runner, users)
            (peripheral, service, links) = try await radio.passing {
                let peripheral = try await Adapter.open(radio.addController())
                let service = try await peripheral.publish(Scene.definition)
                try await peripheral.advertise(AdvertisementData(name: "Shared"))
                let address = try #require(peripheral.information?.address)
                var links: [Connection] = []
                for user in users {
                    try await user.waitUntilReady()
                    links.append(try await user.connect(to: address))
                }
                return (peripheral, service, links)
            }
        }
    }

    @Test("The adapters share the link to a peer, and each receives the values it subscribed to")
    func link() async throws {
        let pair = try await Pair()
        let (radio, links) = (pair.radio, pair.links)
        #expect(pair.peripheral.connections.count == 1)
        let local = try #require(pair.service[Scene.notified])
        let sequences = try await radio.passing {
            let remote = try await links[0].characteristic(Scene.notified, in: Scene.service)
            return [try await links[0].notifications(of: remote), try await links[1].notifications(of: remote)]
        }
        let subscriber = try #require(local.subscribers.first)
        try await radio.passing {
            try await subscriber.notify([1])
            for values in sequences { #expect(try await values.first() == [1]) }
        }
        // The other goes on when one has gone.
        await pair.users[0].close()
        try await radio.passing {
            try await subscriber.notify([2])
            #expect(try await sequences[1].first() == [2])
        }
        #expect(await sequences[0].end() == .adapterClosed)
        await #expect(throws: BluetoothError.adapterClosed) { _ = try await links[0].rssi() }
    }

    @Test("A link lasts until the last adapter releases it")
    func released() async throws {
        let pair = try await Pair()
        let (radio, links) = (pair.radio, pair.links)
        links[0].release()
        await radio.advance(by: .seconds(1))
        #expect(pair.peripheral.connections.count == 1)
        links[1].release()
        #expect(try await radio.passing { try await links[0].waitForDisconnection() } == .byThisDevice)
    }

    @Test("The adapters' advertising data is merged")
    func advertising() async throws {
        let pair = try await Pair()
        let (radio, users) = (pair.radio, pair.users)
        let sighting = try await radio.passing {
            try await users[0].advertise(AdvertisementData(name: "Both", services: ["180D"]))
            try await users[1].advertise(AdvertisementData(services: ["180F"]))
            return try await pair.peripheral.firstSighting(for: ScanFilter(services: ["180F"]))
        }
        #expect(Set(sighting.serviceUUIDs) == ["180D", "180F"])
    }

    @Test("A peer's name is available on the connections of both adapters")
    func name() async throws {
        let pair = try await Pair()
        let link = pair.links[0]
        try await pair.radio.passing { await until { link.name != nil } }
        #expect(pair.links[1].name == link.name)
    }

    @Test("Withdrawing a service ends the subscription to it, and an event reports it")
    func servicesChanged() async throws {
        let pair = try await Pair()
        let (radio, links, service) = (pair.radio, pair.links, pair.service)
        let events = pair.users[0].events()
        let values = try await radio.passing {
            let remote = try await links[0].characteristic(Scene.notified, in: Scene.service)
            return try await links[0].notifications(of: remote)
        }
        // The peer is asked to tell of changes as soon as there is nothing else to do.
        await radio.advance(by: .seconds(3))
        try await service.withdraw()
        #expect(try await radio.passing { await values.end() } == .servicesChanged)
        let told = try await radio.passing { () -> ClosedRange<AttributeHandle>? in
            for try await case .servicesChanged(_, let handles) in events { return handles }
            return nil
        }
        #expect(told?.overlaps(service.handles.range) == true)
    }

    @Test("A call that crosses a change of services fails instead of using a stale handle")
    func crossingCall() async throws {
        let pair = try await Pair()
        let (radio, connection, service) = (pair.radio, pair.links[0], pair.service)
        let link = connection.link, known = link.knownChanges
        let stored = try await radio.passing { try await connection.characteristic(Scene.stored, in: Scene.service) }
        await radio.advance(by: .seconds(3))
        try await service.withdraw()
        try await radio.passing { await until { link.knownChanges == known + 1 } }
        // The same link before its side has heard of the change.
        let information = LinkInformation(
            role: .central, peer: link.peer, address: link.address, mtu: link.mtu, parameters: connection.parameters,
            security: connection.security)
        let late = Connection(adapter: connection.adapter, link: LinkState(link.identifier, information, name: nil))
        let notified = DiscoveredCharacteristic(
            uuid: Scene.notified, declarationHandle: stored.declarationHandle, valueHandle: stored.valueHandle,
            endHandle: stored.endHandle, properties: .notify)
        let session = try late.openSession()
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await late.read(stored) }, { try await late.write([1], to: stored) },
            { try await late.writeSigned([1], to: stored) }, { _ = try await late.notifications(of: notified) },
            {
                session.begin(.read(stored.valueHandle), as: 1)
                for try await case .ended(1, let result) in session.events {
                    _ = try result.get()
                    return
                }
            },
        ]
        for call in calls {
            await #expect(throws: BluetoothError.servicesChanged) { try await radio.passing { try await call() } }
        }
        // One that is made afterwards is answered by the peer.
        let error = await #expect(throws: BluetoothError.self) {
            try await radio.passing { try await connection.read(stored) }
        }
        #expect(error?.code == .att)
    }
}
