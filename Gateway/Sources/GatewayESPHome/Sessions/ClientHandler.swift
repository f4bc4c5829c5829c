import Logging
import NIOCore

/// The connection of one client, on its event loop. It separates the client's stream into messages, and sends the
/// messages of the client's session.
final class ClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The events that the handler reports to the server.
    struct Reports: Sendable {
        /// The handshake failed because of the client.
        var failed: @Sendable () -> Void
        /// A client was disconnected.
        var refused: @Sendable (_ reason: String) -> Void
    }

    private var framing: any Framing
    private let session: ProxySession
    private let outbox: Outbox
    private let reports: Reports
    private var isClosing = false
    private var silences = 0
    private var deadline: Scheduled<Void>?

    /// The time in which a client must send its hello.
    static let helloTimeout = TimeAmount.seconds(10)
    /// The time without a message after which a client is pinged, and the number of such periods after which it is
    /// disconnected.
    static let silence = TimeAmount.seconds(60)
    static let silenceLimit = 3

    init(_ framing: any Framing, _ session: ProxySession, _ outbox: Outbox, _ reports: Reports) {
        self.framing = framing
        self.session = session
        self.outbox = outbox
        self.reports = reports
    }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: Self.helloTimeout) {
            let (handler, context) = bound.value
            if !handler.session.isWelcome { handler.refuse(ProtocolFailure("it sent no hello in time"), context) }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        silences = 0
        framing.append(unwrapInboundIn(data).readableBytesView)
        do throws(ProtocolFailure) {
            while !isClosing, let event = try framing.next() {
                switch event {
                case .reply(let octets): write(octets, context)
                case .frame(let frame): obey(session.receive(frame), context)
                }
            }
        } catch {
            fail()
            refuse(error, context)
        }
    }

    /// Reports a failed handshake if the client has not sent its hello yet.
    private func fail() { if !session.isWelcome { reports.failed() } }

    private func obey(_ verdict: ProxySession.Verdict, _ context: ChannelHandlerContext) {
        switch verdict {
        case .goOn: return
        case .welcome: endDeadline()
        case .noPlace: leave("too many clients are connected", context)
        case .leave:
            drain(context)
            close(context)
        case .refuse(let reason):
            fail()
            leave(reason, context)
        }
    }

    /// Asks the client to disconnect, and closes the connection.
    private func leave(_ reason: String, _ context: ChannelHandlerContext) {
        var octets: [UInt8] = []
        framing.send(Frame(.disconnectRequest), into: &octets)
        refuse(ProtocolFailure(reason, farewell: octets), context)
    }

    private func refuse(_ failure: ProtocolFailure, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        reports.refused(failure.reason)
        if !failure.farewell.isEmpty { write(failure.farewell, context) }
        close(context)
    }

    private func close(_ context: ChannelHandlerContext) {
        isClosing = true
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        endDeadline()
        context.fireChannelInactive()
    }

    /// Cancels the deadline. Otherwise it would keep all objects of the connection alive until it expires.
    private func endDeadline() {
        deadline?.cancel()
        deadline = nil
    }

    // MARK: - Sending

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is Outbox.Drain: drain(context)
        case let event as Leave: leave(event.reason, context)
        case is IdleStateHandler.IdleStateEvent:
            silences += 1
            if silences >= Self.silenceLimit { return refuse(ProtocolFailure("it was silent for too long"), context) }
            if session.isWelcome { outbox.send(Frame(.pingRequest)) }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// Requests that the client be asked to disconnect.
    struct Leave: Sendable {
        var reason: String
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        drain(context)
        context.fireChannelWritabilityChanged()
    }

    private func drain(_ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        guard let frames = outbox.take(isWritable: context.channel.isWritable) else {
            // A farewell would not get through either.
            return refuse(ProtocolFailure("it does not read its messages"), context)
        }
        guard !frames.isEmpty else { return }
        var octets: [UInt8] = []
        for frame in frames { framing.send(frame, into: &octets) }
        write(octets, context)
    }

    private func write(_ octets: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: octets)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The connection was reset, for example. Nothing can be sent to the client.
        close(context)
    }
}
