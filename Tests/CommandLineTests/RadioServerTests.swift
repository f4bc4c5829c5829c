import BluetoothLE
import Foundation
import HCITransport
import Synchronization
import Testing

@testable import RadioCommand

/// `ble radio`: hosts that come and go.
struct RadioServerTests {
    /// A radio that runs in its own thread until the test ends.
    private static func withRadio(
        _ ports: [String], _ options: RadioServer.Options = .init(), _ body: () async throws -> Void
    ) async throws {
        try await withRadio(ports.map { .unixServer(path: $0) }, options, body)
    }

    private static func withRadio(
        _ ports: [TransportName], _ options: RadioServer.Options = .init(), _ body: () async throws -> Void
    ) async throws {
        let isOver = Flag()
        let (news, continuation) = AsyncStream<Result<Waker, TransportError>>.makeStream()
        // Not a task: it blocks, and the thread pool for tasks is small.
        Thread.detachNewThread {
            defer { continuation.finish() }
            do throws(TransportError) {
                let server = try RadioServer(options)
                for port in ports { try server.add(port) }
                continuation.yield(.success(server.waker))
                try server.run(until: { isOver.isSet })
            } catch {
                continuation.yield(.failure(error))
            }
        }
        var iterator = news.makeAsyncIterator()
        let waker = try #require(await iterator.next()).get()
        do { try await body() } catch { Issue.record(error) }
        isOver.set()
        waker.wake()
        #expect(await iterator.next() == nil, "the radio ends without an error")
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    /// Unique names that need no file.
    private static func names(_ count: Int) -> [String] {
        (0..<count).map { "@ble-radio-\(UInt64.random(in: .min ... .max))-\($0)" }
    }

    @Test("Hosts receive each other, and the next host finds a controller that has been reset")
    func hosts() async throws {
        let names = Self.names(2)
        try await Self.withRadio(names) {
            for name in ["first", "second"] {
                let peripheral = try await Adapter.open(.unixClient(path: names[0]))
                let central = try await Adapter.open(.unixClient(path: names[1]))
                var advertisement = AdvertisementData()
                advertisement.localName = .complete(name)
                try await peripheral.advertise(advertisement)
                let sighting = try await central.firstSighting(for: ScanFilter(isConnectableOnly: true))
                #expect(sighting.name == name, "the previous host's advertising is gone")
                let connection = try await central.connect(to: sighting.address)
                #expect(connection.mtu == 517)
                await central.close()
                await peripheral.close()
            }
        }
    }

    @Test("Hosts are served with a delay, and their packets are shown")
    func delay() async throws {
        let names = Self.names(2)
        try await Self.withRadio(names, RadioServer.Options(delay: .milliseconds(1), isTraced: true)) {
            let peripheral = try await Adapter.open(.unixClient(path: names[0]))
            let central = try await Adapter.open(.unixClient(path: names[1]))
            try await peripheral.advertise(AdvertisementData())
            let sighting = try await central.firstSighting(for: ScanFilter(isConnectableOnly: true))
            let connection = try await central.connect(to: sighting.address)
            #expect(connection.mtu == 517)
            await central.close()
            await peripheral.close()
        }
    }

    /// A unique path.
    private static func path() -> String {
        FileManager.default.temporaryDirectory.appending(path: "ble-radio-\(UInt64.random(in: .min ... .max))").path()
    }

    @Test("Hosts come and go on a serial line, and receive a host on another transport")
    func line() async throws {
        let path = Self.path(), other = Self.names(1)
        try await Self.withRadio([.pty(link: path), .unixServer(path: other[0])]) {
            let central = try await Adapter.open(.unixClient(path: other[0]))
            for name in ["first", "second"] {
                let peripheral = try await Adapter.open(.serial(SerialLine(device: path)))
                var advertisement = AdvertisementData()
                advertisement.localName = .complete(name)
                try await peripheral.advertise(advertisement)
                let sighting = try await central.firstSighting(for: ScanFilter(name: .exact(name)))
                let connection = try await central.connect(to: sighting.address)
                #expect(connection.mtu == 517)
                try await connection.disconnect()
                await peripheral.close()
            }
            await central.close()
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("Connecting to a host can be cancelled")
    func cancelled() throws {
        let listener = try TransportListener(.tcpServer(host: "127.0.0.1", port: 0), receiver: .host)
        guard case .tcpServer(_, let port) = listener.name else { fatalError("not a server: \(listener.name)") }
        let server = try RadioServer(), cancellation = try Waker()
        cancellation.wake()
        let error = #expect(throws: TransportError.self) {
            try server.add(.tcpClient(host: "127.0.0.1", port: port), cancellation: cancellation)
        }
        #expect(error?.reason == .cancelled)
    }

    @Test("H1: after a host stops inside a command, the next one can resynchronize the line")
    func cutOff() async throws {
        let path = Self.path()
        try await Self.withRadio([.pty(link: path)]) {
            for beginning in [[0x01], [0x01, 0x05, 0x20], [0x01, 0x05, 0x20, 0xFF, 0x00], [0xFF]] as [[UInt8]] {
                let line = try #require(FileHandle(forUpdatingAtPath: path))
                try line.write(contentsOf: beginning)
                try line.close()
                let host = try await Adapter.open(.serial(SerialLine(device: path, resynchronizes: true)))
                await host.close()
            }
        }
    }

    @Test("H1: a host that does not speak H4 is disconnected, and no other host is affected")
    func garbage() async throws {
        let names = Self.names(2)
        try await Self.withRadio(names) {
            let other = try await Adapter.open(.unixClient(path: names[1]))
            try await other.advertise(AdvertisementData())
            let transport = try TransportName.unixClient(path: names[0]).open(as: .controller)
            let packet: [UInt8] = [4, 0x0E, 1, 0]  // An event, from a host.
            try transport.send(packet.span)
            transport.close()
            let next = try await Adapter.open(.unixClient(path: names[0]))
            _ = try await next.firstSighting(for: ScanFilter())
            await next.close()
            await other.close()
        }
    }
}
