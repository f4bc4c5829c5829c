import BluetoothAdapter
import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import Synchronization
import TestSupport
import Testing
import VirtualRadio

/// Peers that do not wait for answers.
struct FloodTests {
    /// An indication that comes so many times, over a controller that says of nothing that it was sent.
    private func flood(_ count: Int) throws -> [String] {
        let radio = VirtualRadio(time: .manual)
        let sensor = try Witness(on: radio)
        let port = DisturbedPort(radio.addController())
        let user = try Witness(AdapterRunner(port, options: .init(host: HostConfiguration(seed: 2))))
        let definition = GATTServiceDefinition(
            uuid: "180D", characteristics: [.init(uuid: "2A37", properties: .indicate)])
        let value = try #require(sensor.publish(definition)?.characteristics.first?.value)
        sensor.post(.advertise(AdvertisingRequest(AdvertisementData())), 1)
        radio.advanceHosts(by: .seconds(1))
        let peer = PeerID(DeviceAddress(0x001B_DC00_0001, kind: .public))
        user.post(.connect(peer, ConnectRequest()), 1)
        radio.advanceHosts(by: .seconds(2))
        let request = SubscriptionRequest(
            characteristic: value, end: AttributeHandle(value.rawValue + 1), configuration: .indications)
        user.post(.subscribe(try #require(user.links.first), request), 2)
        radio.advanceHosts(by: .seconds(2))
        _ = user.take()
        port.disturb { packet in
            if packet[0] == 0x04, packet[1] == 0x13 { return [] }
            guard packet.count > 9, packet[0] == 0x02, packet[9] == 0x1D else { return [packet] }
            return [[UInt8]](repeating: packet, count: count)
        }
        sensor.post(.update(try #require(sensor.links.first), value, [7]))
        radio.advanceHosts(by: .seconds(5))
        return user.take().filter { $0 != "value 07" }
    }

    @Test("A burst of 1000 indications does not end the link")
    func patience() throws {
        #expect(try flood(1000) == [])
    }

    @Test("A peer that sends 1200 indications without waiting for confirmations is disconnected with peerTooFast")
    func overrun() throws {
        let reason = DisconnectReason.peerTooFast
        #expect(try flood(1200) == ["ended: \(reason)"])
        #expect("\(BluetoothError.disconnected(reason))".contains("without waiting for the answers"))
    }
}
