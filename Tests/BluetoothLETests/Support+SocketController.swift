import BluetoothBase
import BluetoothHCI
import Foundation
import HCITransport
import Synchronization
import VirtualRadio

/// The host beyond a socket.
private final class ServedHost: PacketPortHost {
    private let waker: Waker

    init(waker: Waker) { self.waker = waker }

    func wake() { waker.wake() }
    func unplugged() {}
    func takeTurn() -> Instant? { nil }
}

/// Serves a virtual controller on a socket, as a program of its own would, to one host after another.
final class SocketController: Sendable {
    /// How a host reaches it.
    let name: TransportName
    private let port: VirtualRadio.Port
    private let waker: Waker
    private let isStopped = Atomic(false)
    private let words = Mutex<[UInt8]>([])
    private let flood = Mutex(Flood())

    /// Packets that do not come from the air, and how many of them the host has room for; nil where it does not say.
    private struct Flood {
        var packets = PacketQueue()
        var room: Int?
    }

    static func makePath() -> String { "@swift-bluetooth-le-\(UInt64.random(in: .min ... .max))" }

    init(_ port: VirtualRadio.Port, path: String = makePath()) throws {
        name = .unixClient(path: path)
        self.port = port
        let waker = try Waker()
        self.waker = waker
        let listener = Mutex(Optional(try TransportListener(.unixServer(path: path))))
        let attachment = port.attach(ServedHost(waker: waker))
        Thread.detachNewThread { [self] in
            if let listener = listener.withLock({ $0.take() }) { try? serve(listener) }
            port.detach(attachment)
        }
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
        waker.wake()
    }

    /// Sends its host anything.
    func say(_ bytes: [UInt8]) {
        words.withLock { $0 += bytes }
        waker.wake()
    }

    /// Sends its host packets of data as fast as the socket takes them.
    ///
    /// - Parameter room: how many the host may have at a time, where it says when it has done with them.
    func flood(_ packets: [[UInt8]], room: Int?) {
        flood.withLock { flood in
            flood.room = room
            for packet in packets { flood.packets.append(packet.span) }
        }
        waker.wake()
    }

    /// Consumes the host's reports of free buffers, which a controller does not answer (Core 5.4, Vol 4, Part E,
    /// 7.3.40).
    private func takesCredits(_ packet: Span<UInt8>) -> Bool {
        guard packet[0] == HCIPacketType.command.rawValue,
            let command = try? HCICommandPacket(decoding: packet.extracting(1...)),
            let completed = try? command.decode(as: HostNumberOfCompletedPackets.self)
        else { return false }
        return flood.withLock { flood in
            flood.room = flood.room.map { room in completed.links.reduce(room) { $0 + Int($1.count) } }
            return flood.room != nil
        }
    }

    /// Adds what the host has room for.
    private func takeFlood(into packets: inout PacketQueue) {
        flood.withLock { flood in
            while !flood.packets.isEmpty, flood.room != 0 {
                packets.append(flood.packets.first)
                flood.packets.removeFirst()
                flood.room = flood.room.map { $0 - 1 }
            }
        }
    }

    private func serve(_ listener: TransportListener) throws {
        let loop = try EventLoop(waker: waker)
        try loop.add(listener.fileDescriptor, token: 0, for: .read)
        var host: StreamTransport?
        var packets = PacketQueue()
        while !isStopped.load(ordering: .relaxed) {
            for event in loop.wait(until: port.nextDeadline) {
                if event.isWritable { try? host?.flush() }
                guard event.isReadable else { continue }
                if event.token == 0, let accepted = try listener.accept() {
                    try loop.add(accepted.fileDescriptor, token: 1, for: .read)
                    host = accepted
                } else {
                    do { try host?.receive { if !takesCredits($0) { port.send($0) } } } catch { host = nil }
                }
            }
            port.receive(into: &packets)
            takeFlood(into: &packets)
            try? host?.send(&packets)
            packets.removeAll()
            let said = words.withLock { words in
                defer { words = [] }
                return words
            }
            if !said.isEmpty { try? host?.send(said.span) }
            guard let host else { continue }
            try? loop.change(host.fileDescriptor, token: 1, to: host.pendingByteCount > 0 ? [.read, .write] : .read)
        }
        host?.close()
    }
}
