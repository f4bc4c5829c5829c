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

    private func serve(_ listener: TransportListener) throws {
        let loop = try EventLoop(waker: waker)
        try loop.add(listener.fileDescriptor, token: 0, for: .read)
        var host: StreamTransport?
        var packets = PacketQueue()
        while !isStopped.load(ordering: .relaxed) {
            for event in loop.wait(until: port.nextDeadline) where event.isReadable {
                if event.token == 0, let accepted = try listener.accept() {
                    try loop.add(accepted.fileDescriptor, token: 1, for: .read)
                    host = accepted
                } else {
                    do { try host?.receive { port.send($0) } } catch { host = nil }
                }
            }
            port.receive(into: &packets)
            try? host?.send(&packets)
            packets.removeAll()
            let said = words.withLock { words in
                defer { words = [] }
                return words
            }
            if !said.isEmpty { try? host?.send(said.span) }
        }
        host?.close()
    }
}
