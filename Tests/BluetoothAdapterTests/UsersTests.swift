import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import Testing
import VirtualRadio

import BluetoothAdapter

/// Several users of one adapter.
struct UsersTests {
    let radio = VirtualRadio(time: .manual)
    let sensor: Witness
    let first: Witness
    let second: Witness
    let sensorPort: VirtualRadio.Port
    let rate: GATTCharacteristicHandles

    init() throws {
        sensorPort = radio.addController()
        sensor = try Witness(AdapterRunner(sensorPort, options: .init(host: HostConfiguration(seed: 1))))
        let service = GATTServiceDefinition(
            uuid: "180D",
            characteristics: [.init(uuid: "2A37", properties: [.read, .notify, .writeWithoutResponse])])
        rate = try #require(sensor.publish(service)?.characteristics.first)
        sensor.post(.advertise(AdvertisingRequest(AdvertisementData())), 1)
        let runner = try AdapterRunner(radio.addController(), options: .init(host: HostConfiguration(seed: 2)))
        (first, second) = (Witness(runner), Witness(runner))
        radio.advanceHosts(by: .seconds(1))
        for witness in [sensor, first, second] { _ = witness.take() }
    }

    private var peer: PeerID { PeerID(DeviceAddress(0x001B_DC00_0001, kind: .public)) }

    private var subscription: SubscriptionRequest {
        SubscriptionRequest(
            characteristic: rate.value, end: AttributeHandle(rate.value.rawValue + 1), configuration: .notifications)
    }

    /// Both users connect, and the link settles.
    private func connect() throws -> LinkIdentifier {
        first.post(.connect(peer, ConnectRequest()), 1)
        second.post(.connect(peer, ConnectRequest()), 2)
        radio.advanceHosts(by: .seconds(2))
        let link = try #require(first.links.first)
        #expect(second.links == [link])
        for witness in [sensor, first, second] { _ = witness.take() }
        return link
    }

    @Test("Two users of the same peer share one link, which ends when both have released it")
    func sharedLink() throws {
        first.post(.connect(peer, ConnectRequest()), 1)
        second.post(.connect(peer, ConnectRequest()), 2)
        radio.advanceHosts(by: .seconds(2))
        let link = try #require(first.links.first)
        #expect(first.take().contains("1 link") && second.take().contains("2 link"))
        #expect(sensor.links.count == 1)
        first.post(.connect(peer, ConnectRequest()), 3)
        #expect(first.take() == ["3 a connection to this peer, or an attempt to establish one, already exists"])
        first.post(.release(link))
        radio.advanceHosts(by: .seconds(1))
        #expect(!second.take().contains { $0.hasPrefix("ended") })
        second.post(.release(link))
        radio.advanceHosts(by: .seconds(1))
        #expect(first.take() == ["ended: this device ended the connection"])
        #expect(second.take() == ["ended: this device ended the connection"])
    }

    @Test("A subscription is requested from the peer once, however many users share it")
    func sharedSubscription() throws {
        let link = try connect()
        first.post(.subscribe(link, subscription), 3)
        second.post(.subscribe(link, subscription), 4)
        radio.advanceHosts(by: .seconds(1))
        #expect(sensor.take() == ["subscription [1]"])
        #expect(first.take() == ["3 done"] && second.take() == ["4 done"])

        let central = try #require(sensor.links.first)
        sensor.post(.notify(central, rate.value, [1]))
        radio.advanceHosts(by: .seconds(1))
        #expect(first.take() == ["value 01"] && second.take() == ["value 01"])

        first.post(.unsubscribe(link, CallToken(rawValue: 3)), 5)
        #expect(first.take() == ["5 done"])
        sensor.post(.notify(central, rate.value, [2]))
        radio.advanceHosts(by: .seconds(1))
        #expect(first.take() == [] && second.take() == ["value 02"])

        second.runner.detach(second.user)
        radio.advanceHosts(by: .seconds(1))
        #expect(sensor.take().contains("subscription []"))
        #expect(!first.take().contains { $0.hasPrefix("ended") })
    }

    @Test("Detaching a user ends its link, scan, advertisement and services")
    func detaching() throws {
        let link = try connect()
        first.post(.release(link))
        second.post(.scan(ScanFilter(), ScanParameters()), 3)
        second.post(.advertise(AdvertisingRequest(AdvertisementData())), 4)
        let handles = try #require(second.publish(GATTServiceDefinition(uuid: "180F")))
        radio.advanceHosts(by: .seconds(1))
        second.runner.detach(second.user)
        radio.advanceHosts(by: .seconds(2))
        #expect(first.take().contains("ended: this device ended the connection"))
        let newcomer = Witness(second.runner)
        #expect(newcomer.publish(GATTServiceDefinition(uuid: "180F")) == handles)
        #expect(newcomer.sightings.isEmpty)
    }

    @Test("Each value takes one credit, which is returned once the value has been sent")
    func credits() throws {
        let link = try connect()
        for number in 0..<UInt8(64) { first.post(.writeWithoutResponse(link, rate.value, [number])) }
        radio.advanceHosts(by: .seconds(2))
        let granted = first.take().filter { $0.hasPrefix("credit") }.compactMap { Int($0.dropFirst(7)) }
        #expect(granted.reduce(0, +) == 64)
        #expect(second.take() == [])
    }

    @Test("Calls that wait on a link, and calls on a link that has ended, fail with the reason")
    func ending() throws {
        let link = try connect()
        first.post(.perform(link, .read(rate.value)), 3)
        second.post(.readRSSI(link), 4)
        second.post(.subscribe(link, subscription), 5)
        sensorPort.unplug()
        radio.advanceHosts(by: .seconds(60))
        let lost = "nothing was received from the peer (supervision timeout)"
        #expect(first.take() == ["3 disconnected: \(lost)", "ended: \(lost)"])
        #expect(second.take().suffix(2) == ["5 disconnected: \(lost)", "ended: \(lost)"])
        first.post(.perform(link, .read(rate.value)), 6)
        #expect(first.take() == ["6 the link is gone; connect again"])
    }

    @Test("Requests that cannot be sent at once are queued and end in order")
    func manyOperations() throws {
        let link = try connect()
        for token in 100..<UInt64(164) { first.post(.perform(link, .readByUUID("2A00")), token) }
        radio.advanceHosts(by: .seconds(60))
        #expect(first.take() == (100..<164).map { "\($0) result" })
    }

    @Test("Advertisements of several users are merged, and each ends with its own call")
    func mergedAdvertising() throws {
        let watcher = try Witness(on: radio)
        watcher.post(
            .scan(ScanFilter(addresses: [DeviceAddress(0x001B_DC00_0002, kind: .public)]), ScanParameters()), 1)
        var one = AdvertisementData(), other = AdvertisementData()
        one.serviceUUIDs = ["180D"]
        other.serviceUUIDs = ["180F"]
        other.localName = .complete("both")
        first.post(.advertise(AdvertisingRequest(one)), 3)
        second.post(.advertise(AdvertisingRequest(other)), 4)
        radio.advanceHosts(by: .seconds(1))
        #expect(first.take() == ["3 done"] && second.take() == ["4 done"])
        #expect(watcher.sightings.last?.serviceUUIDs == ["180D", "180F"])
        #expect(watcher.sightings.last?.name == "both")
        first.post(.cancel, 3)
        radio.advanceHosts(by: .seconds(1))
        #expect(watcher.sightings.last?.serviceUUIDs == ["180F"])
    }

    @Test("The peer's name, services and service changes are reported automatically")
    func preparation() throws {
        first.post(.connect(peer, ConnectRequest()), 1)
        radio.advanceHosts(by: .seconds(2))
        let told = first.take()
        #expect(told.contains("name swift-bluetooth-le") && told.contains("services"))
        let handles = try #require(sensor.publish(GATTServiceDefinition(uuid: "180F")))
        radio.advanceHosts(by: .seconds(1))
        #expect(first.take() == ["changed \(handles.range)"])
    }

    @Test("An attempt ends with the last user that waits for it, and each user has its own timeout")
    func attempts() throws {
        let nobody = PeerID(DeviceAddress(99, kind: .public))
        first.post(.connect(nobody, ConnectRequest(timeout: .seconds(5))), 1)
        second.post(.connect(nobody, ConnectRequest(timeout: .seconds(9), delay: .seconds(1))), 2)
        radio.advanceHosts(by: .seconds(6))
        #expect(first.take() == ["1 timed out"] && second.take() == [])
        second.post(.cancel, 2)
        #expect(second.take() == ["2 cancelled"])
        radio.advanceHosts(by: .seconds(60))
        #expect(second.take() == [])
    }

    @Test("A user that attaches later receives the current state")
    func snapshot() throws {
        let link = try connect()
        radio.advanceHosts(by: .seconds(5))
        let newcomer = Witness(first.runner)
        #expect(
            newcomer.take() == ["ready", "name swift-bluetooth-le", "began", "credit 64", "services"])
        #expect(newcomer.links == [link])
    }
}
