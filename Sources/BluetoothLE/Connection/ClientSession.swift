import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The GATT client of a link, for those who hand on what happens in the order in which it happened: a bridge to an API
/// with callbacks, a recorder.
///
/// Calls such as `Connection.read` return to whoever made them, at a time of their own; a value that the peer sends
/// meanwhile may be seen before or after. A session tells both through one sequence.
///
///     let session = try await connection.openSession()
///     await session.begin(.readLong(handle), as: 1)
///     for try await event in session.events { … }
public struct ClientSession: Sendable {
    public let connection: Connection
    /// What happens, from the moment the session was opened on. It ends by throwing what ended the link, or `.overflow`
    /// where its consumer falls 16384 events behind. When the last copy of it is gone, the session is over.
    public let events: EventSequence<ClientEvent>
    let number: Int

    /// Begins an operation. How it ends, and even that it cannot begin, is told by an event with this number, exactly
    /// once, unless the link ends before.
    ///
    /// Operations on one link are carried out in the order in which they were begun.
    public func begin(_ operation: GATTClientOperation, as tag: Int) async {
        await connection.adapter.begin(operation, as: tag, session: number, on: connection.link)
    }
}

/// Something that happens to the GATT client of a link.
public enum ClientEvent: Sendable {
    /// The peer has sent the value of a characteristic unasked: notified, or indicated, which has been confirmed.
    case value([UInt8], of: AttributeHandle)
    /// An operation has ended that was begun with this number.
    case ended(Int, Result<GATTClientResult, BluetoothError>)
    /// ATT_MTU has changed, to so many octets.
    case mtuChanged(Int)
}

extension Connection {
    /// Opens a session, of which a link may have several; each is told of every value.
    ///
    /// It does not subscribe to anything: `GATTClientOperation.configure` does.
    public func openSession() async throws(BluetoothError) -> ClientSession {
        try await adapter.openSession(on: self)
    }
}

/// The sessions of one link, by their numbers, and what they have begun.
struct ClientSessions {
    private var queues: [Int: AsyncQueue<ClientEvent>] = [:]
    private var begun: [GATTClient.OperationID: (session: Int, tag: Int)] = [:]

    mutating func open(_ number: Int, _ queue: AsyncQueue<ClientEvent>) { queues[number] = queue }

    mutating func close(_ number: Int) { queues[number] = nil }

    mutating func begun(_ operation: GATTClient.OperationID, session: Int, as tag: Int) {
        begun[operation] = (session, tag)
    }

    /// Tells of the end of an operation. False where it was not one of a session.
    mutating func ended(
        _ operation: GATTClient.OperationID, _ result: Result<GATTClientResult, BluetoothError>
    ) -> Bool {
        guard let (session, tag) = begun.removeValue(forKey: operation) else { return false }
        tell(.ended(tag, result), to: session)
        return true
    }

    func tell(_ event: ClientEvent, to session: Int) { queues[session]?.push(event) }

    func tell(_ event: ClientEvent) {
        for queue in queues.values { queue.push(event) }
    }

    func finish(_ error: BluetoothError) {
        for queue in queues.values { queue.finish(error) }
    }
}

extension Adapter {
    func openSession(on connection: Connection) throws(BluetoothError) -> ClientSession {
        let link = connection.link
        try checkOpen(link)
        let number = makeNumber()
        let queue = AsyncQueue<ClientEvent>(capacity: 16384, overflow: .fail)
        links[link]?.sessions.open(number, queue)
        let events = EventSequence(queue) { [weak self] in
            Task { await self?.closeSession(number, on: link) }
        }
        return ClientSession(connection: connection, events: events, number: number)
    }

    private func closeSession(_ number: Int, on link: LinkIdentifier) { links[link]?.sessions.close(number) }

    func begin(_ operation: GATTClientOperation, as tag: Int, session: Int, on link: LinkIdentifier) {
        // Where the link has ended the sequence has, too.
        guard links[link] != nil else { return }
        do throws(HostError) {
            let identifier = try host.start(operation, on: link, at: now)
            links[link]?.sessions.begun(identifier, session: session, as: tag)
        } catch {
            links[link]?.sessions.tell(.ended(tag, .failure(BluetoothError(error))), to: session)
        }
    }

    /// Hands on how an operation ended, to the session that began it or to the call that waits for it.
    func operationEnded(
        _ link: LinkIdentifier, _ operation: GATTClient.OperationID,
        _ result: Result<GATTClientResult, BluetoothError>
    ) {
        if links[link]?.sessions.ended(operation, result) == true { return }
        resume(.operation(link, operation), with: result.map { .gatt($0) })
    }
}
