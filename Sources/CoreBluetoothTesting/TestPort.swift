import BluetoothBase
import BluetoothHCI
import Synchronization
import VirtualRadio

/// A controller of a test: it records what passes, and a script may stand in for the host's server.
final class TestPort: PacketPort {
    private let base: any PacketPort
    private let capture: PacketCapture?
    private let adapter: UInt16
    /// The script, and the place where its timers are.
    private let script: AttributeScript?
    private let place: Place?
    private let host = Mutex<(any PacketPortHost)?>(nil)
    /// Used in turns of the host.
    private let links = Mutex(ScriptedLinks())

    /// - Parameters:
    ///   - capture: the capture, in which this is the adapter with a number.
    ///   - script: what is done about requests, with the place of the device.
    init(_ base: any PacketPort, _ capture: PacketCapture?, adapter: Int, _ script: (AttributeScript, Place)? = nil) {
        self.base = base
        self.capture = capture
        self.adapter = UInt16(clamping: adapter)
        self.script = script?.0
        place = script?.1
    }

    var name: String { base.name }
    var identity: AnyHashable { base.identity }
    var isPluggedIn: Bool { base.isPluggedIn }
    var now: Instant { base.now }
    var isTimeManual: Bool { base.isTimeManual }
    var nextDeadline: Instant? { base.nextDeadline }

    func attach(_ host: any PacketPortHost) -> UInt64 {
        self.host.withLock { $0 = host }
        links.withLock { $0 = ScriptedLinks() }
        return base.attach(host)
    }

    func detach(_ attachment: UInt64) { base.detach(attachment) }
    func requestTurn(of host: any PacketPortHost) { base.requestTurn(of: host) }

    func send(_ packet: Span<UInt8>) {
        guard script != nil, let changed = links.withLock({ $0.sent(packet.array, mtu: mtu) }) else {
            capture?.record(packet, .sent, adapter: adapter, at: now)
            return base.send(packet)
        }
        capture?.record(changed.span, .sent, adapter: adapter, at: now)
        base.send(changed.span)
    }

    func receive(into packets: inout PacketQueue) {
        base.receive(into: &packets)
        let now = now
        if let capture {
            packets.forEach { capture.record($0, .received, adapter: adapter, at: now) }
        }
        guard let script, let place else { return }
        var received: [[UInt8]] = []
        while let packet = packets.popFirst() { received.append(packet) }
        // The lock is not held while the test's own closures run: they may change the script.
        var links = links.withLock { $0 }
        let outcome = links.receive(received, script, at: now)
        self.links.withLock { $0 = links }
        for packet in outcome.packets { packets.append(packet.span) }
        if outcome.dropsLinks {
            place.surroundings.changeAir { air, now in
                air.dropLinks(of: place.controller, reason: .remoteUserTerminatedConnection, at: now)
            }
        }
        if let deadline = outcome.deadline {
            place.surroundings.schedule(at: deadline) { [weak self] in self?.wake() }
        }
    }

    private var mtu: UInt16 { script?.mtu ?? 517 }

    /// Gives the host a turn for the requests that waited.
    private func wake() {
        if let host = host.withLock({ $0 }) { base.requestTurn(of: host) }
    }
}

extension Span<UInt8> {
    /// A copy of the octets.
    var array: [UInt8] { withUnsafeBufferPointer { Array($0) } }
}
