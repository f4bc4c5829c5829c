import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import Foundation
import Logging
import Synchronization

/// An event for a central manager.
enum CentralEvent {
    case restored([String: Any])
    case state(CBManagerState, Attachment?)
    case discovered(FoundDevices, scan: UInt64)
    case scanEnded(UInt64, HostError)
    case connected(PeripheralSession, PeripheralLink, mtu: Int)
    case connectionFailed(PeripheralSession, HostError)
    case cancelled(PeripheralSession)
    case linkEnded(PeripheralLink, DisconnectReason)
    case connectionEvent(PeerID, Set<BluetoothUUID>, isConnected: Bool)
    /// A received value. Its octets are delivered with the event.
    case value(PeripheralLink, AttributeHandle)
    case lost(PeripheralLink, LinkLoss)
    /// - Parameter pipe: the channel that was opened. It may have been closed since.
    case operationEnded(PeripheralLink, PeripheralOperation, Result<CallResult, HostError>, pipe: ChannelPipe?)
    case rssi(PeripheralLink, Result<CallResult, HostError>)
    case mtuChanged(PeripheralLink, Int)
    case nameChanged(PeerID, String)
    case servicesChanged(PeripheralLink, ClosedRange<AttributeHandle>, number: UInt32)
    case readyToWrite(PeripheralLink)
}

extension CentralEvent {
    /// The number of callbacks that the event makes, at most.
    fileprivate var callbackCount: Int { if case .discovered(let found, _) = self { found.range.count } else { 1 } }
}

/// Devices that a scan has found in one turn of the adapter.
struct FoundDevices {
    /// All sightings of the turn, which the managers share, or some of them.
    let sightings: [Sighting]
    /// The sightings for this scan.
    let range: Range<Int>
    /// The number of the first of `sightings`.
    private let firstNumber: SightingNumber

    /// The maximum number of sightings in one event, so that a block that delivers events soon yields the queue.
    static let maximumCount = 16

    init(_ sightings: [Sighting], _ range: Range<Int>, firstNumber: SightingNumber) {
        self.sightings = sightings
        self.range = range
        self.firstNumber = firstNumber
    }

    func number(of index: Int) -> SightingNumber { firstNumber &+ SightingNumber(index) }
}

/// A central manager's use of its adapter.
final class CentralSession: ManagerSession<CentralEvent, CentralState>, @unchecked Sendable {
    // Unchecked: like its superclass.

    private typealias Scan = (attachment: Attachment, token: CallToken, number: UInt64)

    let manager = WeakReference<CBCentralManager>()
    // Only read or replaced as a whole: such accesses of a private property need no check for exclusive access.
    private var links: [PeripheralLink] = []
    // Exclusive access is not checked: the lock guarantees it.
    @exclusivity(unchecked) private var scan: Scan?
    private var wantedConnectionEvents: WantedConnectionEvents?

    /// The sessions of connected and connecting peripherals.
    var peripherals: [ObjectIdentifier: PeripheralSession] = [:]
    /// The requested scan, until it is stopped or fails.
    var wantedScan: WantedScan?
    /// The saved states of peripherals that the application has released, kept until the next change.
    var lingering: [CentralState.Peripheral] = []

    /// The number of sightings that wait to be delivered.
    let waitingSightings = Atomic<Int>(0)
    /// How many sightings may wait. More are dropped, if the application's queue is blocked.
    private static let maximumSightings = 65536

    /// This session, for its links and peripherals.
    let reference = SessionReference<CentralSession>()

    override init(_ environment: ManagerEnvironment, _ queue: DispatchQueue?, restoreIdentifier: String?) {
        super.init(environment, queue, restoreIdentifier: restoreIdentifier)
        reference.begin(self)
    }

    override func begin() { restore() }

    override func stop() {
        super.stop()
        reference.end()
    }

    // Nothing follows once the application has released the manager, although it may still hold a peripheral.
    override func deliverEvents() -> InboxScheduling {
        // Without `consume`, each event would be copied.
        inbox.deliver { (event: consuming CentralEvent, octets: borrowing Span<UInt8>) in
            let count = event.callbackCount
            if !isStopped { handle(consume event, octets) }
            return count
        }
    }

    // MARK: - Recording events, with the lock held

    override func take(_ state: CBManagerState, _ attachment: Attachment?) {
        if attachment == nil {
            let ended = links
            for link in ended {
                link.lease.close()
                link.pipes.endAll()
            }
            links = []
            scan = nil
        }
        inbox.append(.state(state, attachment))
    }

    override func take(eventAt position: Int, of batch: borrowing EventBatch, _ attachment: Attachment) {
        switch batch.events[position] {
        case .value(let identifier, let handle, let payload):
            guard let link = link(identifier), link.isHeld, link.wantsValues(at: handle), link.admits(payload.count)
            else { return }
            inbox.append(.value(link, handle), octets: batch.octets(of: payload))
        case .subscriptionBegan(_, let token):
            if case .operation(let link, let operation) = attachment.call(token) {
                link.subscriptionBegan(operation)
            }
        case .sightings(let token, let range):
            guard let scan, scan.token == token else { return }
            found(range, of: batch, scan.number)
        case .sendCredit(let identifier, let count):
            guard let link = link(identifier) else { return }
            if link.credited(count) { inbox.append(.readyToWrite(link)) }
        case .channel(let identifier, let event): link(identifier)?.pipes.take(event, of: batch)
        case .ended(let token, let result):
            if let call = attachment.take(token) { ended(call, token, result) }
        case .linkBegan(let identifier, let information):
            let link = PeripheralLink(identifier, information, attachment, of: reference)
            links = links + [link]
            // An outgoing link is reported once its services are known.
            if !link.isOutgoing { tellOf(link, isConnected: true) }
        case .linkEnded(let identifier, let reason):
            guard let index = index(of: identifier) else { return }
            let link = links[index]
            links = links.filter { $0 !== link }
            link.lease.close()
            link.pipes.endAll()
            if !link.isOutgoing || link.services != nil { tellOf(link, isConnected: false) }
            if link.isHeld { inbox.append(.linkEnded(link, reason)) }
        case .mtuChanged(let identifier, let mtu):
            guard let link = link(identifier) else { return }
            link.mtu = mtu
            if link.isHeld { inbox.append(.mtuChanged(link, mtu)) }
        case .servicesKnown(let identifier, let services):
            guard let link = link(identifier) else { return }
            let isNews = link.services == nil && link.isOutgoing
            link.services = Set(services)
            if isNews { tellOf(link, isConnected: true) }
        case .servicesChanged(let identifier, let handles):
            guard let link = link(identifier) else { return }
            let number = link.servicesChanged(in: handles)
            if link.isHeld, link.admits(0) { inbox.append(.servicesChanged(link, handles, number: number)) }
        case .nameChanged(let peer, let name):
            environment.adapter.names.set(name, of: peer)
            inbox.append(.nameChanged(peer, name))
        case .lost(let identifier, let loss):
            guard let link = link(identifier), link.isHeld, link.admits(0) else { return }
            inbox.append(.lost(link, loss))
        case .adapter, .advertisingSetEnded, .periodic, .subevents, .parametersChanged, .phyChanged, .power,
            .peerIdentified, .written, .readRequested,
            .writeRequested, .executeRequested, .authorizationRequested, .requestExpired, .subscriptionChanged,
            .securityChanged,
            .pairingEnded, .pairingAsked,
            .pairingShown, .bondRefused:
            return
        }
    }

    private func found(_ range: Range<Int>, of batch: borrowing EventBatch, _ scan: UInt64) {
        let room = max(0, Self.maximumSightings - waitingSightings.load(ordering: .relaxed))
        let range = range.prefix(room)
        waitingSightings.add(range.count, ordering: .relaxed)
        // Events that wait must not retain many sightings of others, or the memory of an earlier, larger turn.
        let isShared = max(8, 4 * range.count) >= batch.sightings.capacity
        let sightings = isShared ? batch.sightings : Array(batch.sightings[range])
        let first = isShared ? 0 : range.lowerBound
        for start in stride(from: range.lowerBound, to: range.upperBound, by: FoundDevices.maximumCount) {
            let end = min(start + FoundDevices.maximumCount, range.upperBound)
            let devices = FoundDevices(
                sightings, start - first..<end - first, firstNumber: batch.earlierSightings &+ SightingNumber(first))
            inbox.append(.discovered(devices, scan: scan))
        }
    }

    private func ended(_ call: PendingCall, _ token: CallToken, _ result: Result<CallResult, HostError>) {
        switch (call, result) {
        case (.answered(let link, let operation, let answer), .success):
            inbox.append(.operationEnded(link, operation, answer, pipe: nil))
        case (.operation(let link, let operation), _), (.answered(let link, let operation, _), .failure):
            var pipe: ChannelPipe?
            if case .success(.channels(_, let opened)) = result {
                for channel in opened {
                    pipe = link.pipes.add(channel.id, channel.information, on: link.identifier, link.attachment)
                }
            }
            if link.operationEnded(operation, result) {
                // One subscription is enough, however often the application subscribes.
                link.attachment.post(.unsubscribe(link.identifier, token))
            }
            inbox.append(.operationEnded(link, operation, result, pipe: pipe))
        case (.connect(let session), .success(.link(let identifier))):
            guard let index = index(of: identifier) else { return }
            let known = links[index]
            let link = known.isHeld ? PeripheralLink(anew: known) : known
            link.isHeld = true
            links = links.map { $0 === known ? link : $0 }
            inbox.append(.connected(session, link, mtu: link.mtu))
        case (.connect(let session), .failure(let error)): inbox.append(.connectionFailed(session, error))
        case (.scan(let number), .failure(let error)): inbox.append(.scanEnded(number, error))
        case (.cancel(let session), _): inbox.append(.cancelled(session))
        case (.rssi(let link), _): inbox.append(.rssi(link, result))
        case (.connect, .success), (.scan, .success): return
        case (.publish, _), (.advertise, _), (.updateParameters, _), (.publishChannel, _):
            preconditionFailure("a central makes no such call")
        }
    }

    private func link(_ identifier: LinkIdentifier) -> PeripheralLink? {
        let links = links
        for link in links where link.identifier == identifier { return link }
        return nil
    }

    private func index(of identifier: LinkIdentifier) -> Int? {
        let links = links
        return links.firstIndex { $0.identifier == identifier }
    }

    private func tellOf(_ link: PeripheralLink, isConnected: Bool) {
        guard wantedConnectionEvents != nil else { return }
        inbox.append(.connectionEvent(link.peer, link.services ?? [], isConnected: isConnected))
    }

    // MARK: - Requests of the application

    func scan(for wanted: WantedScan, number: UInt64, through attachment: Attachment) {
        let token = attachment.register(.scan(number))
        let next = token.map { (attachment, $0, number) }
        let before = lock.withLock {
            defer { scan = next }
            wantedScan = wanted
            return scan
        }
        changed()
        let parameters = ScanParameters(reportsDuplicates: wanted.allowsDuplicates)
        if let token { attachment.post(.scan(wanted.filter, parameters), token: token) }
        if let before { end(before) }
        // Another thread may have stopped this scan before it began.
        if let next, lock.withLock({ scan?.number != number }) { end(next) }
    }

    /// Ends a scan in the host, which sends no event for that.
    private func end(_ scan: Scan) {
        _ = scan.attachment.take(scan.token)
        scan.attachment.post(.cancel, token: scan.token)
    }

    /// A scan has failed. Returns false if it is not the current one.
    func scanFailed(_ number: UInt64) -> Bool {
        let isCurrent = lock.withLock {
            guard scan?.number == number else { return false }
            (scan, wantedScan) = (nil, nil)
            return true
        }
        if isCurrent { changed() }
        return isCurrent
    }

    func stopScan() {
        let scan = lock.withLock {
            defer { self.scan = nil }
            wantedScan = nil
            return self.scan
        }
        changed()
        if let scan { end(scan) }
    }

    func connect(_ peripheral: PeripheralSession, through attachment: Attachment, after delay: Duration) {
        lock.withLock { peripherals[ObjectIdentifier(peripheral)] = peripheral }
        changed()
        peripheral.connect(through: attachment, after: delay)
    }

    func cancel(_ peripheral: PeripheralSession, through attachment: Attachment) {
        forget(peripheral)
        guard peripheral.release() else { return }
        // This call only serves as a marker: its result, and so the end, is delivered after all earlier events of the
        // adapter.
        attachment.begin(.cancel(peripheral), .readOwnValue(0))
    }

    /// Forgets the session of a peripheral that is neither connected nor connecting.
    func forget(_ peripheral: PeripheralSession) {
        lock.withLock { peripherals[ObjectIdentifier(peripheral)] = nil }
        changed()
    }

    /// The application has released a peripheral. Either it no longer needs the peripheral, or the program is about to
    /// end. The saved state therefore stays on disk until the next change.
    func abandon(_ peripheral: PeripheralSession) {
        lock.withLock {
            guard peripherals.removeValue(forKey: ObjectIdentifier(peripheral)) != nil, keeper != nil else { return }
            if let state = peripheral.state { lingering.append(state) }
        }
    }

    /// Logs a warning about the use of the manager, unless the application is releasing the manager as well.
    func warn(_ line: String) {
        let logger = BluetoothEnvironment.logger
        inbox.queue.async { [self] in
            if !lock.withLock({ isStopped }) { logger.warning("\(line)") }
        }
    }

    func setConnectionEvents(_ wanted: WantedConnectionEvents?) { lock.withLock { wantedConnectionEvents = wanted } }

    func wantsConnectionEvent(_ identifier: UUID, _ services: Set<BluetoothUUID>) -> Bool {
        lock.withLock { wantedConnectionEvents?.matches(identifier, services: services) ?? false }
    }

    /// The peers with a link whose services are known, and those services.
    var linkedPeers: [(PeerID, Set<BluetoothUUID>)] {
        lock.withLock {
            let links = links
            return links.compactMap { link in link.services.map { (link.peer, $0) } }
        }
    }
}
