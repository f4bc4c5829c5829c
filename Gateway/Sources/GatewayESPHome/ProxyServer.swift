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

/// The address at which the API is served, and the key that clients need.
public struct ProxyEndpoint: Equatable, Sendable {
    /// The address to listen on, without brackets; `::` for all addresses of the machine.
    public var host: String
    /// The TCP port to listen on. If it is 0, the system chooses one.
    public var port: UInt16
    /// The key that clients must have; nil admits every client.
    public var key: [UInt8]?

    /// Creates an endpoint. The key has 32 octets; nil admits every client.
    public init(host: String, port: UInt16, key: [UInt8]?) {
        self.host = host
        self.port = port
        self.key = key
    }

    /// The address for display, with a port that the system may have chosen. An IPv6 address is in brackets.
    func place(port: Int) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// An error: the server cannot listen on its port.
public struct PortUnavailable: Error, CustomStringConvertible {
    /// The endpoint at which the server cannot listen.
    public var endpoint: ProxyEndpoint
    /// The error of the system.
    public var reason: String

    /// A sentence with the address, the port and the error of the system.
    public var description: String {
        "cannot serve ESPHome's API at \(endpoint.place(port: Int(endpoint.port))), choose another port or address: "
            + reason
    }
}

/// A server for ESPHome's native API, in the role of a Bluetooth proxy.
public final class ProxyServer: Sendable {
    private struct State {
        /// The connections and their sessions. A connection counts in `admission` until it ends or must make room for
        /// another.
        var channels: [ProxyClientID: any Channel] = [:]
        var sessions: [ProxyClientID: ProxySession] = [:]
        var admission = Admission()
        var next: UInt64 = 0
        var isEnding = false
        /// The number of clients that were refused or disconnected, for each reason.
        var refusals: [String: UInt64] = [:]
    }

    private let endpoint: ProxyEndpoint
    private let identity: ProxyIdentity
    private let radio: any ProxyRadio
    private let logger: Logger
    private let state = Mutex(State())
    private let registry = ProxyRegistry()

    /// Creates a server, which accepts clients as soon as `run()` is called.
    public init(_ endpoint: ProxyEndpoint, _ identity: ProxyIdentity, radio: any ProxyRadio, logger: Logger) {
        self.endpoint = endpoint
        self.identity = identity
        self.radio = radio
        self.logger = logger
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: an error if the server cannot listen on its port.
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
                // When a client disconnects, its connections to devices end.
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
        for (_, channel) in rest { Self.askToLeave(channel, "the gateway is shutting down") }
        for (session, channel) in rest {
            try? await channel.closeFuture.get()
            await Task { await session?.end() }.value
        }
        continuation.finish()
    }

    // MARK: - Notifying clients

    /// Reports an advertising packet to the clients.
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

    /// Reports to the clients that places for connections were taken or returned.
    public func placesChanged() { for session in sessions { session.placesChanged() } }

    /// Reports to the clients that an adapter started or stopped scanning, or that the mode of scanning changed.
    public func scanningChanged() { for session in sessions { session.scanningChanged() } }

    /// The number of clients.
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
            // Without a hello, the client has started nothing.
            guard session.isWelcome else { return }
            // Immediately, so that a client that reconnects finds its previous connection ending.
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

    /// Registers a connection and returns its number, if the connection may begin its handshake.
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
        if client == nil { refused("its address must wait after failed handshakes", channel) }
        if let yielding {
            refused("its handshake is unfinished, and other clients are waiting", yielding)
            yielding.close(promise: nil)
        }
        return client
    }

    /// Gives a client that has sent its hello a place, if one is available.
    private func admit(_ client: ProxyClientID, _ name: String, _ channel: any Channel) -> Bool {
        let (isAdmitted, yielding) = state.withLock { state -> (Bool, (any Channel)?) in
            switch state.admission.finish(client) {
            case .refused: return (false, nil)
            case .admitted(let yielding): return (true, yielding.flatMap { state.channels[$0] })
            }
        }
        if let yielding { Self.askToLeave(yielding, "clients at other addresses are waiting for a place") }
        if isAdmitted {
            let name = JSONText.quoted(String(name.prefix(64)))
            logger.info("ESPHome's API: \(name) at \(Self.peer(channel)) is connected")
        }
        return isAdmitted
    }

    private static func askToLeave(_ channel: any Channel, _ reason: String) {
        channel.pipeline.fireUserInboundEventTriggered(ClientHandler.Leave(reason: reason))
    }

    /// Logs only the 1st, 2nd, 4th, 8th… refusal for each reason, so that repeated attempts do not fill the log.
    private func refused(_ reason: String, _ channel: any Channel) {
        let count = state.withLock { state in
            if state.refusals.count > 64 { state.refusals = [:] }
            let count = state.refusals[reason, default: 0] + 1
            state.refusals[reason] = count
            return count
        }
        guard count & (count - 1) == 0 else { return }
        let times = count == 1 ? "" : " (\(count) times so far)"
        logger.warning("ESPHome's API: disconnecting the client at \(Self.peer(channel)): \(reason)\(times)")
    }

    private static func peer(_ channel: any Channel) -> String { channel.remoteAddress?.ipAddress ?? "nowhere" }

    private func announce(_ channel: any Channel) {
        let place = endpoint.place(port: channel.localAddress?.port ?? Int(endpoint.port))
        if endpoint.key == nil {
            logger.warning(
                """
                ESPHome's API: open at \(place): anyone who can reach it receives all advertisements and can connect \
                to devices; set a key to prevent that
                """)
        } else {
            logger.info("ESPHome's API: \(identity.name) at \(place), for clients with its key")
        }
    }
}
