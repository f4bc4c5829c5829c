import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import Synchronization
import Testing
import VirtualRadio

import BluetoothAdapter

/// Two adapters on one radio whose time is manual: everything happens on the test's own thread.
struct RunnerTests {
    let radio = VirtualRadio(time: .manual)

    private func open() throws -> Witness { try Witness(on: radio) }

    @Test("A user finds, connects, subscribes and receives a value, in a fixed order")
    func value() throws {
        let sensor = try open(), phone = try open()
        #expect(sensor.take() == ["ready"])
        #expect(phone.take() == ["ready"])

        let service = GATTServiceDefinition(
            uuid: "180D", characteristics: [.init(uuid: "2A37", properties: [.notify])])
        let handles = try #require(sensor.publish(service)?.characteristics.first)
        var advertisement = AdvertisementData()
        advertisement.serviceUUIDs = ["180D"]
        sensor.post(.advertise(AdvertisingRequest(advertisement)), 2)
        radio.advanceHosts(by: .milliseconds(1))
        #expect(sensor.take() == ["2 done"])

        phone.post(.scan(ScanFilter(services: ["180D"]), ScanParameters()), 1)
        radio.advanceHosts(by: .seconds(1))
        let seen = try #require(phone.sightings.first)
        phone.post(.cancel, 1)
        _ = phone.take()

        phone.post(.connect(PeerID(seen.address), ConnectRequest(timeout: .seconds(5))), 3)
        radio.advanceHosts(by: .seconds(2))
        let link = try #require(phone.links.first)
        #expect(phone.take().prefix(4) == ["began", "credit 64", "mtu 517", "3 link"])

        let request = SubscriptionRequest(
            characteristic: handles.value, end: AttributeHandle(handles.value.rawValue + 1),
            configuration: .notifications)
        phone.post(.subscribe(link, request), 4)
        radio.advanceHosts(by: .seconds(1))
        #expect(phone.take().last == "4 done")
        let central = try #require(sensor.links.first)
        #expect(sensor.take().last == "subscription [1]")

        sensor.post(.notify(central, handles.value, [1, 2, 3]))
        radio.advanceHosts(by: .seconds(1))
        #expect(sensor.take() == ["credit 1"])
        #expect(phone.take() == ["value 010203"])

        phone.post(.release(link))
        radio.advanceHosts(by: .seconds(1))
        #expect(phone.take() == ["ended: this device ended the connection"])
        #expect(sensor.take() == ["subscription []", "ended: the peer ended the connection"])
    }

    @Test("A closed adapter ends pending calls and accepts no new ones")
    func closing() throws {
        let phone = try open()
        _ = phone.take()
        phone.post(.connect(PeerID(DeviceAddress(5, kind: .public)), ConnectRequest()), 1)
        phone.runner.close()
        #expect(phone.take() == ["1 the adapter is gone; plug it in again", "lost", "closed"])
        #expect(!phone.runner.post(.cancel, token: CallToken(rawValue: 1), from: phone.user))
        #expect(phone.runner.failure == .adapterClosed)
    }

    @Test("An unplugged controller is reopened when it is plugged in again")
    func unplugging() throws {
        let port = radio.addController()
        let phone = try Witness(AdapterRunner(port, options: .init(host: HostConfiguration(seed: 1))))
        port.unplug()
        #expect(phone.take() == ["ready", "lost"])
        radio.advanceHosts(by: .seconds(60))
        #expect(phone.take() == [])
        port.plugIn()
        radio.advanceHosts(by: .seconds(10))
        #expect(phone.take() == ["ready"])
        #expect(phone.runner.failure == nil)
    }
}
