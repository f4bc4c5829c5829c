import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import Synchronization
import TestSupport
import Testing
import VirtualRadio

@testable import BluetoothAdapter

/// An adapter that closes, as its peers see it. Time is manual.
@Suite("Closing an adapter")
struct ClosingTests {
    private let radio = VirtualRadio(time: .manual)
    private static let service = GATTServiceDefinition(
        uuid: "180D", characteristics: [.init(uuid: "2A37", properties: [.read, .write], value: .dynamic)])

    /// A peripheral that advertises, on a separate controller.
    private func sensor(on port: (any PacketPort)? = nil) throws -> (witness: Witness, value: AttributeHandle) {
        let sensor = try Witness(runner(on: port ?? radio.addController()))
        let handles = try #require(sensor.publish(Self.service)?.characteristics.first)
        sensor.post(.advertise(AdvertisingRequest(AdvertisementData())), 2)
        radio.advanceHosts(by: .milliseconds(1))
        return (sensor, handles.value)
    }

    private func runner(on port: any PacketPort) throws -> AdapterRunner {
        var options = AdapterOptions(host: HostConfiguration(seed: 1))
        options.host.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        return try AdapterRunner(port, options: options)
    }

    private func connect(_ phone: Witness, to sensor: Witness) throws -> LinkIdentifier {
        let address = try #require(sensor.runner.information?.address)
        phone.post(.connect(PeerID(address), ConnectRequest()), 90)
        radio.advanceHosts(by: .seconds(2))
        _ = (sensor.take(), phone.take())
        return try #require(phone.links.last)
    }

    @Test("Peers are disconnected within 100 ms, whatever the adapter's role", arguments: [true, false])
    func peers(isCentral: Bool) throws {
        let sensor = try sensor().witness, phone = try Witness(on: radio)
        _ = try connect(phone, to: sensor)
        let (closing, peer) = isCentral ? (phone, sensor) : (sensor, phone)
        closing.runner.close()
        #expect(closing.take() == ["ended: the adapter is gone", "lost", "closed"], "its user does not wait")
        #expect(!closing.runner.isReleased)
        radio.advanceHosts(by: .milliseconds(100))
        #expect(peer.take() == ["ended: the peer ended the connection"])
        #expect(closing.runner.isReleased && closing.take() == [])
    }

    @Test("All links are disconnected, and no new link begins")
    func severalLinks() throws {
        let phone = try Witness(on: radio)
        let sensors = try (0..<3).map { _ in try sensor().witness }
        for sensor in sensors { _ = try connect(phone, to: sensor) }
        // Something that would be on the air again with each link that ends, and an attempt that is under way.
        phone.post(.advertise(AdvertisingRequest(AdvertisementData())), 1)
        phone.post(.connect(PeerID(DeviceAddress(5, kind: .public)), ConnectRequest()), 2)
        radio.advanceHosts(by: .milliseconds(100))
        let address = try #require(phone.runner.information?.address)
        let other = try Witness(on: radio)
        phone.runner.close()
        other.post(.connect(PeerID(address), ConnectRequest()), 3)
        radio.advanceHosts(by: .milliseconds(500))
        #expect(sensors.map { $0.take() } == Array(repeating: ["ended: the peer ended the connection"], count: 3))
        #expect(phone.runner.isReleased)
        radio.advanceHosts(by: .seconds(5))
        #expect(other.take() == ["ready"])
    }

    @Test("Without a link the controller is released at once")
    func noLink() throws {
        let phone = try Witness(on: radio)
        phone.post(.connect(PeerID(DeviceAddress(5, kind: .public)), ConnectRequest()), 1)
        phone.runner.close()
        #expect(phone.runner.isReleased)
    }

    /// How a controller does not do what it is asked for.
    enum Failure: CaseIterable {
        case answersNothing, doesNotReportEnds
    }

    @Test(
        "A controller that does not report the end of a link is released after half a second",
        arguments: Failure.allCases)
    func unresponsive(_ failure: Failure) throws {
        let port = DisturbedPort(radio.addController())
        let sensor = try sensor(on: port).witness, phone = try Witness(on: radio)
        _ = try connect(phone, to: sensor)
        port.disturb { packet in
            switch failure {
            case .answersNothing: []
            // Disconnection Complete.
            case .doesNotReportEnds: packet.starts(with: [0x04, 0x05]) ? [] : [packet]
            }
        }
        sensor.runner.close()
        radio.advanceHosts(by: .milliseconds(499))
        #expect(!sensor.runner.isReleased)
        radio.advanceHosts(by: .milliseconds(1))
        #expect(sensor.runner.isReleased)
    }

    @Test("Closing does not wait for a controller that is unplugged meanwhile")
    func unplugged() throws {
        let port = radio.addController()
        let sensor = try sensor(on: port).witness, phone = try Witness(on: radio)
        _ = try connect(phone, to: sensor)
        sensor.runner.close()
        #expect(!sensor.runner.isReleased)
        port.unplug()
        #expect(sensor.runner.isReleased)
    }

    @Test("A killed adapter does not disconnect its peers")
    func killed() throws {
        let sensor = try sensor().witness, phone = try Witness(on: radio)
        _ = try connect(phone, to: sensor)
        sensor.runner.kill()
        #expect(sensor.runner.isReleased)
        radio.advanceHosts(by: .seconds(10))
        #expect(phone.take() == ["ended: nothing was received from the peer (supervision timeout)"])
    }

    @Test("Closing twice disconnects each link once and notifies the users once")
    func twice() throws {
        let sensor = try sensor().witness, phone = try Witness(on: radio)
        _ = try connect(phone, to: sensor)
        let calls = Mutex(0)
        for _ in 0..<2 { sensor.runner.close { calls.withLock { $0 += 1 } } }
        sensor.runner.beginClosing()
        #expect(calls.withLock { $0 } == 0)
        radio.advanceHosts(by: .milliseconds(100))
        #expect(calls.withLock { $0 } == 2)
        sensor.runner.close { calls.withLock { $0 += 1 } }
        #expect(calls.withLock { $0 } == 3, "it is released already")
        #expect(sensor.take() == ["ended: the adapter is gone", "lost", "closed"])
        #expect(phone.take() == ["ended: the peer ended the connection"])
    }

    @Test("A pending write and a pending pairing end once, before the link, and have no effect later")
    func pending() throws {
        let (sensor, value) = try sensor()
        let phone = try Witness(runner(on: radio.addController()))
        let link = try connect(phone, to: sensor)
        for witness in [sensor, phone] {
            witness.post(.setPairingAgent(PairingAgentDescription(ioCapability: .noInputNoOutput)), 4)
        }
        phone.post(.write(link, value, [1]), 5)
        phone.post(.pair(link, PairRequest()), 6)
        radio.advanceHosts(by: .milliseconds(60))
        let before = phone.take()
        #expect(!before.contains { $0.hasPrefix("5 ") || $0.hasPrefix("6 ") })
        phone.runner.close()
        let gone = "the adapter is gone; plug it in again"
        let lines = phone.take()
        #expect(lines.filter { $0.hasPrefix("5 ") } == ["5 \(gone)"])
        #expect(lines.filter { $0.hasPrefix("6 ") } == ["6 the connection ended"])
        #expect(lines.suffix(3) == ["ended: the adapter is gone", "lost", "closed"])
        #expect(phone.runner.error(for: HostError.adapterRemoved) == .adapterClosed)
        radio.advanceHosts(by: .milliseconds(100))
        #expect(sensor.take().last == "ended: the peer ended the connection")
        radio.advanceHosts(by: .seconds(60))
        #expect(phone.take() == [] && phone.runner.bonds.isEmpty && sensor.runner.bonds.isEmpty)
    }

    /// A user that does not hold its adapter.
    private final class Bystander: AdapterObserver {
        func receive(_ batch: borrowing EventBatch) {}
    }

    @Test("An adapter that is closed before its thread starts does not open its controller")
    func closedAtOnce() throws {
        let port = radio.addController()
        let turns = try RunnerTurns(RunnerCore(.port(port), .port(port), AdapterOptions()), port)
        _ = turns.mailbox.put(UserID(number: 1), Bystander())
        turns.guarded.withTurn { $0.close(.adapterClosed, turns.mailbox) }
        turns.begin()
        let next = turns.turn(nil, on: 1)
        guard case .end = next else {
            Issue.record("the thread continues: \(next)")
            return
        }
        #expect(turns.isReleased && turns.guarded.withTurn { $0.transport == nil })
    }

    @Test("An adapter without references disconnects its peers, and blocks no thread")
    func released() throws {
        let phone = try Witness(on: radio)
        weak var gone: AdapterRunner?
        do {
            let runner = try runner(on: radio.addController())
            gone = runner
            let user = runner.attach(Bystander())
            runner.post(.advertise(AdvertisingRequest(AdvertisementData())), from: user)
            radio.advanceHosts(by: .milliseconds(1))
            phone.post(.connect(PeerID(try #require(runner.information?.address)), ConnectRequest()), 1)
            radio.advanceHosts(by: .seconds(2))
            _ = phone.take()
        }
        #expect(gone == nil)
        radio.advanceHosts(by: .milliseconds(100))
        #expect(phone.take() == ["ended: the peer ended the connection"])
    }

    @Test("An adapter that takes over the controller of a closing adapter does not share it")
    func successor() throws {
        let port = radio.addController()
        let sensor = try sensor(on: port).witness, phone = try Witness(on: radio)
        _ = try connect(phone, to: sensor)
        sensor.runner.close()
        let next = try self.sensor(on: port).witness
        #expect(sensor.runner.isReleased)
        phone.post(.release(try #require(phone.links.last)))
        radio.advanceHosts(by: .seconds(10))
        _ = phone.take()
        _ = try connect(phone, to: next)
        radio.advanceHosts(by: .seconds(10))
        #expect(phone.take() == [] && next.take() == [])
    }
}
