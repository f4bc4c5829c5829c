import BluetoothDocuments
import BluetoothLE
import Crypto
import Foundation
import GatewayPipeline
import Logging
import NIOCore
import NIOPosix
import SwiftProtobuf
import Synchronization

/// Where the API is served, and to whom.
public struct ProxyEndpoint: Equatable, Sendable {
    public var host: String
    public var port: UInt16
    /// The key that clients have to have; nil lets everybody in.
    public var key: [UInt8]?

    public init(host: String, port: UInt16, key: [UInt8]?) {
        self.host = host
        self.port = port
        self.key = key
    }

    /// Where it is, with a port that the system may have chosen. An IPv6 address is in brackets.
    func place(port: Int) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The port cannot be had.
public struct PortUnavailable: Error, CustomStringConvertible {
    public var endpoint: ProxyEndpoint
    public var reason: String

    public var description: String {
        "ESPHome's API cannot be served at \(endpoint.place(port: Int(endpoint.port))), choose another port or address: \(reason)"
    }
}

/// ESPHome's native API, as a Bluetooth proxy speaks it.
public final class ProxyServer: Sendable {
    private struct State {
        var sessions: [ProxyClientID: (session: ProxySession, channel: any Channel)] = [:]
        var welcome: Set<ProxyClientID> = []
        var next: UInt64 = 0
        var isEnding = false
        /// How often clients were made to leave, for each reason.
        var refusals: [String: UInt64] = [:]
    }

    /// Clients that have said who they are, and connections in all.
    static let clientLimit = 8
    static let connectionLimit = 32

    private let endpoint: ProxyEndpoint
    private let identity: ProxyIdentity
    private let radio: any ProxyRadio
    private let logger: Logger
    private let state = Mutex(State())
    private let registry = ProxyRegistry()

    public init(_ endpoint: ProxyEndpoint, _ identity: ProxyIdentity, radio: any ProxyRadio, logger: Logger) {
        self.endpoint = endpoint
        self.identity = identity
        self.radio = radio
        self.logger = logger
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: if the port cannot be had.
    public func run() async throws {
        let (ended, continuation) = AsyncStream<ProxySession>.makeStream()
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 32 << 10, high: 128 << 10))
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try accept(channel, continuation) }
            }
        let channel: any Channel
        do {
            channel = try await bootstrap.bind(host: endpoint.host, port: Int(endpoint.port)).get()
        } catch {
            throw PortUnavailable(endpoint: endpoint, reason: "\(error)")
        }
        announce(channel)
        await withTaskGroup { group in
            group.addTask { [self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(100))
                    for session in sessions { session.flush() }
                }
            }
            group.addTask {
                // A client that is gone takes its connections along.
                await withDiscardingTaskGroup { group in
                    for await session in ended { group.addTask { await session.end() } }
                }
            }
            await group.next()
            group.cancelAll()
        }
        try? await channel.close()
        let rest = state.withLock { state in
            state.isEnding = true
            return Array(state.sessions.values)
        }
        for (_, channel) in rest { channel.pipeline.fireUserInboundEventTriggered(ClientHandler.Leave()) }
        for (session, channel) in rest {
            try? await channel.closeFuture.get()
            await Task { await session.end() }.value
        }
        continuation.finish()
    }

    // MARK: - Telling clients

    /// Tells of an advertising packet.
    public func advertise(_ reception: Reception) {
        let sessions = sessions
        guard !sessions.isEmpty else { return }
        let advertisement = APIBluetoothLERawAdvertisement.with {
            $0.address = reception.address.value
            $0.addressType = reception.address.plain.kind == .random ? 1 : 0
            $0.rssi = Int32(reception.rssi ?? -127)
            $0.data = Data(reception.advertisingData + reception.scanResponseData)
        }
        for session in sessions { session.advertise(advertisement) }
    }

    /// Places for connections were taken or given back.
    public func placesChanged() { for session in sessions { session.placesChanged() } }

    /// Adapters began to scan or have stopped, or scan in another way.
    public func scanningChanged() { for session in sessions { session.scanningChanged() } }

    /// How many clients there are.
    public var clientCount: Int { state.withLock { $0.welcome.count } }

    private var sessions: [ProxySession] { state.withLock { $0.sessions.values.map(\.session) } }

    // MARK: - Clients

    private func accept(_ channel: any Channel, _ ended: AsyncStream<ProxySession>.Continuation) throws {
        let outbox = Outbox { channel.pipeline.fireUserInboundEventTriggered(Outbox.Drain()) }
        let surroundings = ProxySession.Surroundings(
            radio: radio, identity: identity, isEncrypted: endpoint.key != nil,
            time: { UInt32(clamping: Int64(Date().timeIntervalSince1970)) },
            registry: registry, scanningChanged: { [weak self] in self?.scanningChanged() })
        let session = state.withLock { state -> ProxySession? in
            guard state.sessions.count < Self.connectionLimit, !state.isEnding else { return nil }
            state.next += 1
            let session = ProxySession(ProxyClientID(number: state.next), surroundings) { outbox.send($0) }
            state.sessions[session.client] = (session, channel)
            return session
        }
        guard let session else {
            refused("there are too many connections", channel)
            throw ChannelError.connectPending
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.sessions[session.client] = nil
                state.welcome.remove(session.client)
            }
            // At once: who comes back is to find that it ends.
            session.leave()
            ended.yield(session)
        }
        let reports = ClientHandler.Reports(
            welcome: { [self] in welcome(session.client, $0, channel) }, refused: { [self] in refused($0, channel) })
        try channel.pipeline.syncOperations.addHandlers([
            IdleStateHandler(readTimeout: ClientHandler.silence),
            ClientHandler(framing, session, outbox, reports),
        ])
    }

    private var framing: any Framing {
        guard let key = endpoint.key else { return PlaintextFraming() }
        return NoiseFraming(key: SymmetricKey(data: key), name: identity.name, address: identity.addressDigits)
    }

    private func welcome(_ client: ProxyClientID, _ name: String, _ channel: any Channel) -> Bool {
        let isTaken = state.withLock { state in
            guard state.welcome.count < Self.clientLimit else { return false }
            state.welcome.insert(client)
            return true
        }
        if isTaken {
            let name = JSONText.quoted(String(name.prefix(64)))
            logger.info("ESPHome's API: \(name) at \(Self.peer(channel)) is connected")
        }
        return isTaken
    }

    /// Whoever knocks again and again does not fill the log.
    private func refused(_ reason: String, _ channel: any Channel) {
        let count = state.withLock { state in
            if state.refusals.count > 64 { state.refusals = [:] }
            let count = state.refusals[reason, default: 0] + 1
            state.refusals[reason] = count
            return count
        }
        guard count & (count - 1) == 0 else { return }
        let times = count == 1 ? "" : " (\(count) times by now)"
        logger.warning("ESPHome's API: the client at \(Self.peer(channel)) has to leave: \(reason)\(times)")
    }

    private static func peer(_ channel: any Channel) -> String { channel.remoteAddress?.ipAddress ?? "nowhere" }

    private func announce(_ channel: any Channel) {
        let place = endpoint.place(port: channel.localAddress?.port ?? Int(endpoint.port))
        if endpoint.key == nil {
            logger.warning(
                """
                ESPHome's API: open at \(place): whoever reaches it hears what is advertised and can connect to devices; \
                give it a key to change that
                """)
        } else {
            logger.info("ESPHome's API: \(identity.name) at \(place), for those who have its key")
        }
    }
}
