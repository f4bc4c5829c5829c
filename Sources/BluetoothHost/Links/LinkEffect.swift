import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// The facts that a link's state machine uses for its decisions, in addition to its own state.
struct LinkContext: Sendable {
    let link: LinkIdentifier
    let handle: ConnectionHandle
    let role: LinkRole
    /// Whether the host has reported the link as connected.
    let isAnnounced: Bool
    /// Whether the queue has room for an optional command; see `Host.sendOptional`.
    let canSendCommand: Bool
    /// Whether the controller supports the Connection Parameters Request procedure (Core 5.4, Vol 6, Part B, 5.1.7).
    let hasParameterRequest: Bool
    /// Whether a connection parameter request over L2CAP is still unanswered by the central.
    let isAskingCentral: Bool
    let now: Instant
}

/// What a link's state machine asks the host to do.
enum LinkEffect: Sendable {
    /// Sends a command. The purpose identifies the state machine that handles its answer.
    case send(any HCICommand, for: CommandPurpose)
    /// Requests connection parameters from the central over L2CAP. No other such request may be outstanding.
    case requestParameters(ConnectionParameters)
    case report(HostEvent.Link)
}

/// The only path from the host into the state machines of its links, and from their effects to the outbox and the
/// events.
extension Host {
    /// Passes an event to a state machine of a link, and performs the effects.
    mutating func advance<Refusal: Error>(
        _ slot: LinkSlot, at now: Instant,
        _ handle: (inout Link, LinkContext) throws(Refusal) -> [LinkEffect]
    ) throws(Refusal) {
        let context = LinkContext(
            link: links.at[slot.index].identifier, handle: links.at[slot.index].handle, role: links.at[slot.index].role,
            isAnnounced: links.at[slot.index].life.isAnnounced, canSendCommand: hasRoomForOptionalCommand,
            hasParameterRequest: controller?.features.contains(.connectionParametersRequest) == true,
            isAskingCentral: links.at[slot.index].signalling.isRequestOutstanding, now: now)
        perform(try handle(&links.at[slot.index], context), slot, at: now)
    }

    /// Like `advance`, for an event that carries a request. The request gets an identifier here, unless the state
    /// machine refuses it.
    mutating func request(
        _ slot: LinkSlot, at now: Instant,
        _ handle: (inout Link, RequestIdentifier, LinkContext) throws(HostError) -> [LinkEffect]
    ) throws(HostError) -> RequestIdentifier {
        let request = purposes.nextRequest
        try advance(slot, at: now) { link, context throws(HostError) in try handle(&link, request, context) }
        return purposes.makeRequest()
    }

    /// Performs effects in order.
    private mutating func perform(_ effects: [LinkEffect], _ slot: LinkSlot, at now: Instant) {
        for effect in effects {
            switch effect {
            case .send(let command, let purpose): send(command, for: purpose, at: now)
            case .requestParameters(let parameters): requestParameters(parameters, slot, at: now)
            case .report(let event): events.append(.link(links.at[slot.index].identifier, event))
            }
        }
    }

    private mutating func requestParameters(
        _ parameters: ConnectionParameters, _ slot: LinkSlot, at now: Instant
    ) {
        openFrame()
        do throws(ConnectionParameterUpdateError) {
            try links.at[slot.index].signalling.requestConnectionParameterUpdate(
                parameters, at: now, into: &outbox.writer)
        } catch {
            // Not reached: the state machine checks in its context whether another request is outstanding.
            return outbox.rollback()
        }
        closeFrame(slot, .leSignalling)
    }
}
