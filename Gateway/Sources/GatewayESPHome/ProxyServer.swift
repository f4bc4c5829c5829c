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
        /// The connections, and the session of each. They count in `admission` until they end, or have to end.
        var channels: [ProxyClientID: any Channel] = [:]
        var sessions: [ProxyClientID: ProxySession] = [:]
        var admission = Admission()
        var next: UInt64 = 0
        var isEnding = false
        /// How often clients were made to leave, for each reason.
        var refusals: [String: UInt64] = [:]
    }

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
            return state.channels.map { (state.sessions[$0], $1) }
        }
        for (_, channel) in rest { Self.askToLeave(channel, "the gateway ends") }
        for (session, channel) in rest {
            try? await channel.closeFuture.get()
            await Task { await session?.end() }.value
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
    public var clientCount: Int { state.withLock { $0.admission.clientCount } }

    private var sessions: [ProxySession] { state.withLock { Array($0.sessions.values) } }

    // MARK: - Clients

    private func accept(_ channel: any Channel, _ ended: AsyncStream<ProxySession>.Continuation) throws {
        let origin = ClientOrigin(channel.remoteAddress)
        guard let client = begin(channel, from: origin) else { throw ChannelError.connectPending }
        let outbox = Outbox { channel.pipeline.fireUserInboundEventTriggered(Outbox.Drain()) }
        let surroundings = ProxySession.Surroundings(
            radio: radio, identity: identity, isEncrypted: endpoint.key != nil,
            time: { UInt32(clamping: Int64(Date().timeIntervalSince1970)) }, registry: registry,
            admit: { [weak self] client, name in self?.admit(client, name, channel) ?? false },
            scanningChanged: { [weak self] in self?.scanningChanged() })
        let session = ProxySession(client, surroundings) { outbox.send($0) }
        state.withLock { $0.sessions[client] = session }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.channels[client] = nil
                state.sessions[client] = nil
                state.admission.end(client)
            }
            // A connection without a hello has begun nothing.
            guard session.isWelcome else { return }
            // At once: who comes back is to find that it ends.
            session.leave()
            ended.yield(session)
        }
        let reports = ClientHandler.Reports(
            failed: { [self] in state.withLock { $0.admission.fail(from: origin, at: .now) } },
            refused: { [self] in refused($0, channel) })
        try channel.pipeline.syncOperations.addHandlers([
            IdleStateHandler(readTimeout: ClientHandler.silence),
            ClientHandler(framing, session, outbox, reports),
        ])
    }

    private var framing: any Framing {
        guard let key = endpoint.key else { return PlaintextFraming() }
        return NoiseFraming(key: SymmetricKey(data: key), name: identity.name, address: identity.addressDigits)
    }

    /// Returns the number of a connection that may begin its handshake.
    private func begin(_ channel: any Channel, from origin: ClientOrigin) -> ProxyClientID? {
        let (client, yielding) = state.withLock { state -> (ProxyClientID?, (any Channel)?) in
            guard !state.isEnding else { return (nil, nil) }
            state.next += 1
            let client = ProxyClientID(number: state.next)
            guard case .admitted(let yielding) = state.admission.begin(client, from: origin, at: .now) else {
                return (nil, nil)
            }
            state.channels[client] = channel
            return (client, yielding.flatMap { state.channels[$0] })
        }
        if client == nil { refused("its address has to wait after failed handshakes", channel) }
        if let yielding {
            refused("its handshake is unfinished, and others wait", yielding)
            yielding.close(promise: nil)
        }
        return client
    }

    /// Gives a client that has said its name a place, if there is one.
    private func admit(_ client: ProxyClientID, _ name: String, _ channel: any Channel) -> Bool {
        let (isAdmitted, yielding) = state.withLock { state -> (Bool, (any Channel)?) in
            switch state.admission.finish(client) {
            case .refused: return (false, nil)
            case .admitted(let yielding): return (true, yielding.flatMap { state.channels[$0] })
            }
        }
        if let yielding { Self.askToLeave(yielding, "clients at other addresses wait for a place") }
        if isAdmitted {
            let name = JSONText.quoted(String(name.prefix(64)))
            logger.info("ESPHome's API: \(name) at \(Self.peer(channel)) is connected")
        }
        return isAdmitted
    }

    private static func askToLeave(_ channel: any Channel, _ reason: String) {
        channel.pipeline.fireUserInboundEventTriggered(ClientHandler.Leave(reason: reason))
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
