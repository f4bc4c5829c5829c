import BluetoothLE
import SwiftProtobuf
import Synchronization
import Testing
@testable import GatewayESPHome

/// What a client is answered, to the byte.
@Suite struct SessionTests {
    /// C0:00:00:00:00:01 as a variable-length number, behind the tag of member 1.
    static let device: [UInt8] = [0x08, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x30]
    static let address = DeviceAddress(0xC000_0000_0001, kind: .random)
    /// Requests of a device: to connect at a random address, and the others.
    static let connect = device + [0x10, 5, 0x18, 1, 0x20, 1]
    static func request(_ type: UInt8) -> [UInt8] { device + [0x10, type] }

    /// A client that is connected to the device.
    static func connected(_ radio: FakeRadio = FakeRadio(), version: UInt8 = 14) async throws -> (FakeClient, FakeLink)
    {
        let client = await FakeClient(radio, version: version)
        // An MTU of 517 octets.
        let answer = Frame(.deviceConnection, device + [0x10, 1, 0x18, 0x85, 4])
        #expect(await client.ask(.deviceRequest, connect) == answer)
        return (client, try #require(radio.link(address)))
    }

    // MARK: - The client

    @Test func hello() async {
        let client = await FakeClient(isWelcome: false)
        let name = Array("Home Assistant".utf8)
        #expect(client.tell(.helloRequest, [0x0A, 14] + name + [0x10, 1, 0x18, 14]) == .welcome)
        let info = Array("ble-gateway 1.0".utf8)
        #expect(
            await client.next()
                == Frame(.helloResponse, [8, 1, 0x10, 14, 0x1A, 15] + info + [0x22, 7] + Array("attic-2".utf8)))
        #expect(client.tell(.helloRequest) == .goOn)
    }

    @Test func withoutAPlaceNoClientIsAnswered() async {
        let client = await FakeClient(isWelcome: false, hasPlace: false)
        #expect(client.tell(.helloRequest, [0x10, 1, 0x18, 14]) == .noPlace)
        #expect(!client.session.isWelcome)
        #expect(client.tell(.pingRequest) == .refuse(reason: "message 7 arrived before its hello"))
        #expect(client.sentCount == 0)
    }

    @Test func nothingBeforeHello() async {
        let client = await FakeClient(isWelcome: false)
        for type in [MessageType.pingRequest, .deviceRequest, .subscribeAdvertisements, .disconnectRequest] {
            #expect(client.tell(type) == .refuse(reason: "message \(type.rawValue) arrived before its hello"))
        }
    }

    static let plainAnswers: [(MessageType, Frame)] = [
        (.pingRequest, Frame(.pingResponse)), (.listEntitiesRequest, Frame(.listEntitiesDone)),
        (.authenticationRequest, Frame(.authenticationResponse)),
        (.getTimeRequest, Frame(.getTimeResponse, [0x0D, 0x00, 0xD2, 0x49, 0x6B])),
        (.subscribeConnectionsFree, Frame(.connectionsFree, [8, 3, 0x10, 3])),
        (.subscribeAdvertisements, Frame(.scannerState, [8, 2, 0x10, 1, 0x18, 1])),
    ]

    @Test(arguments: plainAnswers) func plain(type: MessageType, answer: Frame) async {
        #expect(await FakeClient().ask(type) == answer)
    }

    @Test(arguments: [(true, UInt32(0xFF)), (false, 0xF7)]) func information(allowsPairing: Bool, flags: UInt32)
        async throws
    {
        let client = await FakeClient(FakeRadio(allowsPairing: allowsPairing))
        let frame = try #require(await client.ask(.deviceInfoRequest))
        #expect(frame.type == .deviceInfoResponse)
        let information = try APIDeviceInfoResponse(serializedBytes: frame.payload)
        #expect(information.name == "attic-2")
        #expect(information.friendlyName == "Attic 2")
        #expect(information.bluetoothProxyFeatureFlags == flags)
        #expect(information.legacyBluetoothProxyVersion == (allowsPairing ? 5 : 3))
        #expect(information.bluetoothMacAddress == information.macAddress)
        #expect(information.apiEncryptionSupported)
        let capabilities = try #require(await client.ask(.deviceCapabilitiesRequest))
        #expect(
            try APIDeviceCapabilitiesResponse(serializedBytes: capabilities.payload).bluetoothProxy.featureFlags
                == flags)
    }

    @Test func identity() {
        let identity = ProxyIdentity(gateway: "Küche/1", version: "1.0")
        #expect(identity.name == "k-che-1")
        // Locally administered, for one device, and always the same.
        #expect(identity.address >> 40 & 3 == 2)
        #expect(identity.addressText.count == 17)
        #expect(identity == ProxyIdentity(gateway: "Küche/1", version: "1.0"))
        #expect(identity.address != ProxyIdentity(gateway: "Küche/2", version: "1.0").address)
    }

    @Test func leaving() async {
        let client = await FakeClient()
        #expect(client.tell(.disconnectRequest) == .leave)
        #expect(await client.next() == Frame(.disconnectResponse))
        #expect(client.tell(.disconnectResponse) == .leave)
    }

    @Test(arguments: [20, 28, 34, 38, 108, 65_535] as [UInt16]) func unknown(number: UInt16) async {
        let client = await FakeClient()
        #expect(client.tell(MessageType(rawValue: number), [0xFF]) == .goOn)
        #expect(await client.ask(.pingRequest) == Frame(.pingResponse))
    }

    @Test(arguments: [.helloRequest, .deviceRequest, .readRequest, .writeRequest, .scannerSetMode] as [MessageType])
    func malformed(type: MessageType) async {
        #expect(
            await FakeClient().tell(type, [0x08]) == .refuse(reason: "message \(type.rawValue) is malformed"))
    }

    // MARK: - Advertisements

    @Test func advertisements() async {
        let client = await FakeClient()
        let advertisement = APIBluetoothLERawAdvertisement.with {
            $0.address = 1
            $0.rssi = -60
            $0.addressType = 1
            $0.data.append(contentsOf: [2, 1, 6])
        }
        let one: [UInt8] = [0x0A, 11, 8, 1, 0x10, 0x77, 0x18, 1, 0x22, 3, 2, 1, 6]
        // Nobody wants to know yet.
        client.session.advertise(advertisement)
        client.session.flush()
        _ = await client.ask(.subscribeAdvertisements, [8, 1])
        client.session.advertise(advertisement)
        client.session.advertise(advertisement)
        client.session.flush()
        #expect(await client.next() == Frame(.rawAdvertisements, one + one))
        // A full batch does not wait.
        for _ in 0..<17 { client.session.advertise(advertisement) }
        #expect(await client.next() == Frame(.rawAdvertisements, (0..<16).flatMap { _ in one }))
        client.tell(.unsubscribeAdvertisements)
        client.session.flush()
        #expect(await client.ask(.pingRequest) == Frame(.pingResponse))
    }

    @Test func scanMode() async {
        let client = await FakeClient()
        _ = await client.ask(.subscribeAdvertisements)
        client.tell(.scannerSetMode, [8, 0])
        #expect(!client.radio.scanning.isActive)
        client.session.scanningChanged()
        #expect(await client.next() == Frame(.scannerState, [8, 2, 0x18, 1]))
        // Who has set it takes it along.
        await client.session.end()
        #expect(client.radio.scanning.isActive)
    }

    // MARK: - Devices

    @Test func services() async throws {
        let (client, _) = try await Self.connected()
        #expect(
            await client.ask(.getServicesRequest, Self.device)
                == Frame(
                    .getServicesResponse,
                    Self.device + [
                        0x12, 21, 0x10, 1, 0x1A, 14, 0x10, 3, 0x18, 0x12, 0x22, 5, 0x10, 4, 0x18, 0x82, 0x52, 0x28,
                        0x99, 0x54, 0x20, 0x8F, 0x30,
                    ]))
        #expect(await client.next() == Frame(.getServicesDone, Self.device))
    }

    @Test func servicesForEarlierClients() async throws {
        let (client, _) = try await Self.connected(version: 11)
        let frame = try #require(await client.ask(.getServicesRequest, Self.device))
        let service = try #require(
            try APIBluetoothGATTGetServicesResponse(serializedBytes: frame.payload).services.first)
        #expect(service.uuid == [0x0000_180F_0000_1000, 0x8000_0080_5F9B_34FB])
        #expect(
            service.characteristics.first?.descriptors.first?.uuid == [0x0000_2902_0000_1000, 0x8000_0080_5F9B_34FB])
        #expect(service.shortUuid == 0)
    }

    static let requests: [(MessageType, [UInt8], Frame)] = [
        (.readRequest, [0x10, 3], Frame(.readResponse, device + [0x10, 3, 0x1A, 1, 61])),
        (.readDescriptorRequest, [0x10, 4], Frame(.gattError, device + [0x10, 4, 0x18, 1])),
        (.writeRequest, [0x10, 3, 0x18, 1, 0x22, 1, 7], Frame(.writeResponse, device + [0x10, 3])),
        (.writeRequest, [0x10, 9, 0x22, 1, 7], Frame(.gattError, device + [0x10, 9, 0x18, 3])),
        (.writeDescriptorRequest, [0x10, 4, 0x1A, 2, 1, 0], Frame(.writeResponse, device + [0x10, 4])),
        (.notifyRequest, [0x10, 3, 0x18, 1], Frame(.notifyResponse, device + [0x10, 3])),
        (.notifyRequest, [0x10, 3], Frame(.notifyResponse, device + [0x10, 3])),
        (.setConnectionParameters, [0x10, 6, 0x18, 12, 0x28, 100], Frame(.connectionParametersSet, device)),
        (
            .setConnectionParameters, [0x10, 1, 0x18, 12, 0x28, 100],
            Frame(.connectionParametersSet, device + [0x10, 0x85, 1])
        ),
        (.deviceRequest, [0x10, 2], Frame(.pairing, device + [0x10, 1])),
        (.deviceRequest, [0x10, 6], Frame(.clearCache, device + [0x10, 1])),
        // There is a connection: it is told again.
        (.deviceRequest, [0x10, 4], Frame(.deviceConnection, device + [0x10, 1, 0x18, 0x85, 4])),
        // No attribute has such a handle.
        (.readRequest, [], Frame(.gattError, device + [0x18, 1])),
        (.readRequest, [0x10, 0x80, 0x80, 4], Frame(.gattError, device + [0x10, 0xFF, 0xFF, 3, 0x18, 1])),
    ]

    @Test(arguments: requests) func operations(type: MessageType, members: [UInt8], answer: Frame) async throws {
        let (client, _) = try await Self.connected()
        #expect(await client.ask(type, Self.device + members) == answer)
    }

    @Test func writesInOrder() async throws {
        let (client, link) = try await Self.connected()
        for number in 0..<50 as Range<UInt8> {
            client.tell(.writeRequest, Self.device + [0x10, 3, 0x22, 1, number])
        }
        // What is not answered is done before what comes behind it.
        #expect(await client.ask(.readRequest, Self.device + [0x10, 3])?.type == .readResponse)
        #expect(link.written.withLock { $0 }.map(\.value) == (0..<50).map { [$0] })
    }

    @Test func notifications() async throws {
        let (client, link) = try await Self.connected()
        _ = await client.ask(.getServicesRequest, Self.device)
        _ = await client.next()
        link.events.continuation.yield(.value(3, [0]))
        _ = await client.ask(.notifyRequest, Self.device + [0x10, 3, 0x18, 1])
        _ = await client.ask(.writeDescriptorRequest, Self.device + [0x10, 4, 0x1A, 2, 1, 0])
        link.events.continuation.yield(.value(8, [1]))
        link.events.continuation.yield(.value(3, [2, 3]))
        #expect(await client.next() == Frame(.notifyData, Self.device + [0x10, 3, 0x1A, 2, 2, 3]))
        // What the client has switched on is switched off for it.
        _ = await client.ask(.notifyRequest, Self.device + [0x10, 3])
        #expect(link.written.withLock { $0 }.last == AttributeValue(handle: 4, value: [0, 0]))
    }

    @Test func withoutConnection() async {
        let client = await FakeClient()
        let minusOne: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]
        #expect(
            await client.ask(.readRequest, Self.device + [0x10, 3])
                == Frame(.gattError, Self.device + [0x10, 3, 0x18] + minusOne))
        #expect(
            await client.ask(.getServicesRequest, Self.device)
                == Frame(.gattError, Self.device + [0x18] + minusOne))
        #expect(
            await client.ask(.deviceRequest, Self.request(1))
                == Frame(.deviceConnection, Self.device + [0x20] + minusOne))
        #expect(
            await client.ask(.deviceRequest, Self.request(2)) == Frame(.pairing, Self.device + [0x18] + minusOne))
    }

    @Test func refusedConnection() async {
        let client = await FakeClient()
        client.radio.state.withLock { $0.refusal = .noConnection }
        #expect(
            await client.ask(.deviceRequest, Self.connect) == Frame(.deviceConnection, Self.device + [0x20, 0x81, 2]))
        client.radio.state.withLock { $0.refusal = nil }
        #expect(await client.ask(.deviceRequest, Self.connect)?.payload.contains(0x18) == true)
    }

    @Test func disconnecting() async throws {
        let (client, _) = try await Self.connected()
        #expect(client.radio.places.taken == [Self.address])
        #expect(
            await client.ask(.deviceRequest, Self.request(1)) == Frame(.deviceConnection, Self.device + [0x20, 0x16]))
        // A new connection waits until the old one has given its place back.
        #expect(await client.ask(.deviceRequest, Self.connect)?.payload == Self.device + [0x10, 1, 0x18, 0x85, 4])
        await client.session.end()
        #expect(client.radio.places.taken.isEmpty)
    }

    /// A client that comes back finds its earlier connection ending, and waits for it.
    @Test func comingBack() async throws {
        let radio = FakeRadio(), registry = ProxyRegistry()
        radio.state.withLock { $0.clings = true }
        let first = await FakeClient(radio, registry: registry), second = await FakeClient(radio, registry: registry)
        _ = await first.ask(.deviceRequest, Self.connect)
        let link = try #require(radio.link(Self.address))
        // While it lasts, the device is the first one's.
        #expect(
            await second.ask(.deviceRequest, Self.connect) == Frame(.deviceConnection, Self.device + [0x20, 0x84, 1]))
        first.session.leave()
        second.tell(.deviceRequest, Self.connect)
        link.letGo()
        #expect(await second.next()?.payload == Self.device + [0x10, 1, 0x18, 0x85, 4])
        radio.link(Self.address)?.letGo()
        await second.session.end()
    }

    @Test func deviceEnds() async throws {
        let (client, link) = try await Self.connected()
        link.events.continuation.yield(.end(ProxyError(code: 0x13)))
        #expect(await client.next() == Frame(.deviceConnection, Self.device + [0x20, 0x13]))
        #expect(await client.ask(.deviceRequest, Self.connect)?.type == .deviceConnection)
    }

    /// A client gives up while the radio still tries.
    @Test func abandonedAttempt() async {
        let client = await FakeClient()
        client.radio.state.withLock { $0.holds = true }
        client.tell(.deviceRequest, Self.connect)
        #expect(
            await client.ask(.deviceRequest, Self.request(1)) == Frame(.deviceConnection, Self.device + [0x20, 0x16]))
    }

    @Test func tooManyDevices() async {
        let client = await FakeClient()
        client.radio.state.withLock { $0.holds = true }
        for number in 1...UInt8(ProxySession.deviceLimit) { client.tell(.deviceRequest, [8, number, 0x10, 5]) }
        #expect(
            await client.ask(.deviceRequest, [8, 100, 0x10, 5])
                == Frame(.deviceConnection, [8, 100, 0x20, 0x84, 1]))
        await client.session.end()
    }

    @Test func pairingByPolicyOnly() async throws {
        let (client, _) = try await Self.connected(FakeRadio(allowsPairing: false))
        #expect(await client.ask(.deviceRequest, Self.request(2)) == Frame(.pairing, Self.device + [0x18, 8]))
        #expect(await client.ask(.deviceRequest, Self.request(3)) == Frame(.unpairing, Self.device + [0x18, 8]))
        let other = await FakeClient()
        other.radio.state.withLock { $0.bonded = [Self.address] }
        #expect(await other.ask(.deviceRequest, Self.request(3)) == Frame(.unpairing, Self.device + [0x10, 1]))
        #expect(other.radio.state.withLock { $0.unpaired } == [Self.address])
    }

    @Test func clearingTheCache() async {
        let client = await FakeClient()
        #expect(await client.ask(.deviceRequest, Self.request(6)) == Frame(.clearCache, Self.device + [0x10, 1]))
        // The client has not stated the type of the address.
        #expect(
            client.radio.state.withLock { $0.forgotten }
                == [DeviceAddress(Self.address.value, kind: .public), Self.address])
    }

    @Test func tooMuchAtATime() async {
        let client = await FakeClient()
        client.radio.state.withLock { $0.holds = true }
        for _ in 0..<ProxySession.owedAnswerLimit { client.tell(.deviceRequest, Self.request(6)) }
        #expect(await client.ask(.deviceRequest, Self.request(6)) == Frame(.clearCache, Self.device + [0x18, 0x84, 1]))
        client.radio.letGo()
        for _ in 0..<ProxySession.owedAnswerLimit {
            #expect(await client.next() == Frame(.clearCache, Self.device + [0x10, 1]))
        }
    }
}
