import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import Synchronization
import TestSupport
import Testing
import VirtualRadio

import BluetoothAdapter

/// Peers that can be connected to, and are of no use.
struct ConnectingTests {
    let radio = VirtualRadio(time: .manual)
    let sensor: Witness
    let user: Witness
    let sensorPort: DisturbedPort
    let userPort: VirtualRadio.Port

    init() throws {
        sensorPort = DisturbedPort(radio.addController())
        sensor = try Witness(AdapterRunner(sensorPort, options: .init(host: HostConfiguration(seed: 1))))
        sensor.post(.advertise(AdvertisingRequest(AdvertisementData())), 1)
        userPort = radio.addController()
        user = try Witness(AdapterRunner(userPort, options: .init(host: HostConfiguration(seed: 2))))
        radio.advanceHosts(by: .seconds(1))
        _ = (user.take(), sensor.take())
    }

    private var peer: PeerID { PeerID(DeviceAddress(0x001B_DC00_0001, kind: .public)) }

    /// The peer hears no request of a client.
    private func silence() {
        sensorPort.disturb { packet in packet.count > 9 && packet[0] == 0x02 && packet[7] == 0x04 ? [] : [packet] }
    }

    /// What the user was told, but for credits, parameters and PHYs.
    private func lines() -> [String] {
        user.take().filter { line in !["credit", "parameters", "phyChanged"].contains { line.hasPrefix($0) } }
    }

    @Test("A connected peer that does not respond fails the call at its timeout with peerNotResponding")
    func silentPeer() {
        silence()
        user.post(.connect(peer, ConnectRequest(timeout: .seconds(5))), 1)
        radio.advanceHosts(by: .seconds(4))
        #expect(lines() == ["began"])
        radio.advanceHosts(by: .seconds(2))
        #expect(lines() == ["1 \(HostError.peerNotResponding)", "ended: \(DisconnectReason.byThisDevice)"])
        // It may be tried again, and be of use then.
        sensorPort.disturb { [$0] }
        user.post(.connect(peer, ConnectRequest(timeout: .seconds(5))), 2)
        radio.advanceHosts(by: .seconds(2))
        #expect(lines().contains("2 link"))
    }

    @Test("Without a timeout, a silent peer fails the call at the transaction timeout, and no link is returned")
    func silentForEver() {
        silence()
        user.post(.connect(peer, ConnectRequest()), 1)
        radio.advanceHosts(by: .seconds(40))
        let reason = DisconnectReason.transactionTimeout
        #expect(lines() == ["began", "1 \(HostError.disconnected(reason))", "ended: \(reason)"])
    }

    @Test("Cancelling a call that waits for the peer's response ends the link")
    func cancelled() {
        silence()
        user.post(.connect(peer, ConnectRequest()), 1)
        radio.advanceHosts(by: .seconds(2))
        user.runner.post(.cancel, token: CallToken(rawValue: 1), from: user.user)
        radio.advanceHosts(by: .seconds(1))
        #expect(lines() == ["began", "1 cancelled", "ended: \(DisconnectReason.byThisDevice)"])
    }

    @Test("Reconnecting to a peer that drops every link at once backs off")
    func dropped() throws {
        let dropper = Dropper(sensor.runner), returner = Returner(user.runner, peer)
        returner.begin()
        radio.advanceHosts(by: .seconds(60))
        #expect((8...14).contains(returner.links), "\(returner.links)")
        withExtendedLifetime(dropper) {}
    }

    @Test("A link that ends because the local adapter was unplugged does not delay the next attempt")
    func unplugged() {
        for number in 1...11 {
            user.post(.connect(peer, ConnectRequest()), UInt64(number))
            for _ in 0..<300 where user.links.count < number { radio.advanceHosts(by: .milliseconds(5)) }
            #expect(user.links.count == number)
            userPort.unplug()
            radio.advanceHosts(by: .milliseconds(1))
            userPort.plugIn()
            // The peer has to notice as well, and to advertise again.
            radio.advanceHosts(by: .seconds(5))
        }
    }
}

/// Ends every link as soon as it begins.
private final class Dropper: AdapterObserver {
    private let runner: AdapterRunner

    init(_ runner: AdapterRunner) {
        self.runner = runner
        _ = runner.attach(self)
    }

    func receive(_ batch: borrowing EventBatch) {
        for case .linkBegan(let link, _) in batch.events {
            runner.post(.disconnect(link, reason: nil), from: batch.user)
        }
    }
}

/// Connects again whenever its link has ended.
private final class Returner: AdapterObserver {
    private let runner: AdapterRunner
    private let peer: PeerID
    private let user = Mutex(UserID(number: 0))
    private let count = Atomic(0)

    init(_ runner: AdapterRunner, _ peer: PeerID) {
        (self.runner, self.peer) = (runner, peer)
        let user = runner.attach(self)
        self.user.withLock { $0 = user }
    }

    var links: Int { count.load(ordering: .relaxed) }

    func begin() { runner.post(.connect(peer, ConnectRequest()), from: user.withLock { $0 }) }

    func receive(_ batch: borrowing EventBatch) {
        for event in batch.events {
            switch event {
            case .linkBegan: count.add(1, ordering: .relaxed)
            case .linkEnded: begin()
            default: continue
            }
        }
    }
}
