import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// The attributes that a user has discovered at its peers, and the reported changes. Attributes must be where they are
/// found.
final class UserDiscovery: UserPart {
    let context: UserContext
    private let attempts: UserAttempts
    private let linkCalls: UserLinkCalls
    private var findings: [LinkIdentifier: Findings] = [:]
    /// Whether the user discovers everything on its next link, after which the peer's service is withdrawn.
    private var discoversAtOnce = false
    /// Whether the user discovers everything on its next link and disconnects.
    private var isSurveying = false

    private struct Findings {
        /// The handles found by discovery.
        var handles: [SimulatedService.Characteristic: ClosedRange<AttributeHandle>] = [:]
        /// Whether the host watches for changes of the peer's services.
        var isWatched = false
        /// The last change that the peer reported, its time, and the number of the peer's service changes by then.
        var lastChange: (handles: ClosedRange<AttributeHandle>, instant: Instant, epoch: Int)?
        /// The number of changes of the peer's services that the user knows of, and the most recent changes.
        var knownChanges: UInt32
        var changes: [(number: UInt32, handles: ClosedRange<AttributeHandle>)] = []
    }

    init(_ context: UserContext, attempts: UserAttempts, linkCalls: UserLinkCalls) {
        self.context = context
        self.linkCalls = linkCalls
        self.attempts = attempts
    }

    // MARK: - Facts

    /// The discovered handles of a characteristic; nil if it was not discovered.
    func handles(
        of characteristic: SimulatedService.Characteristic, on link: LinkIdentifier
    ) -> ClosedRange<AttributeHandle>? {
        findings[link]?.handles[characteristic]
    }

    /// All handles discovered on a link.
    func handles(on link: LinkIdentifier) -> [SimulatedService.Characteristic: ClosedRange<AttributeHandle>] {
        findings[link]?.handles ?? [:]
    }

    /// The handle of a characteristic: the discovered one, or else the current one at the peer.
    func handle(of characteristic: SimulatedService.Characteristic, on link: UserLink) -> AttributeHandle? {
        handles(of: characteristic, on: link.identifier)?.lowerBound ?? run.handle(of: characteristic, at: link.peer)
    }

    /// Whether the host watches for changes of the peer's services.
    func isWatched(_ link: LinkIdentifier) -> Bool { findings[link]?.isWatched ?? false }

    /// The number of changes of the peer's services that the user knows of.
    func knownChanges(on link: LinkIdentifier) -> UInt32 { findings[link]?.knownChanges ?? 0 }

    /// Whether the service at a handle has changed after the first `known` changes.
    func hasChanged(_ handle: AttributeHandle, since known: UInt32, on link: LinkIdentifier) -> Bool {
        findings[link]?.changes.contains { $0.number > known && $0.handles.contains(handle) } ?? false
    }

    // MARK: - Turns

    func discoverAll(_ link: UserLink, includes: Bool) {
        post(
            .perform(link.identifier, .discoverAll(includes: includes)),
            CallLedger.Call(
                kind: .discover, link: link.identifier,
                expectation: ExpectedEnd(peer: link.peer, epoch: run.epochs[link.peer])))
    }

    /// Connects, discovers everything, and disconnects. The next link must not use attributes that no longer exist.
    func survey() {
        isSurveying = true
        attempts.connectToNext(timeout: .seconds(2))
    }

    /// Connects, and discovers everything immediately, before the host watches for changes.
    func discoverOnNextLink() {
        discoversAtOnce = true
        attempts.connectToNext()
    }

    /// The user has left.
    func removeAll() {
        findings = [:]
        isSurveying = false
    }

    // MARK: - Events

    func linkBegan(_ link: UserLink) {
        findings[link.identifier] = Findings(knownChanges: link.information.serviceChanges)
    }

    func linkEnded(_ link: LinkIdentifier) { findings[link] = nil }

    func noteWatched(_ link: LinkIdentifier) { findings[link]?.isWatched = true }

    /// The user may use the link from now on.
    func linkIsReady(_ link: UserLink) {
        if discoversAtOnce {
            discoversAtOnce = false
            post(
                .perform(link.identifier, .discoverAll(includes: true)),
                CallLedger.Call(kind: .discover, link: link.identifier, isFollowedByChange: true))
        }
        if isSurveying { discoverAll(link, includes: false) }
    }

    /// The services of the peer have changed.
    func servicesChanged(_ handles: ClosedRange<AttributeHandle>, on link: UserLink) {
        guard var found = findings[link.identifier] else { return }
        found.handles = found.handles.filter { !handles.overlaps($0.value) }
        found.knownChanges &+= 1
        found.changes = found.changes.suffix(15) + [(found.knownChanges, handles)]
        found.lastChange = (handles, now, run.epochs[link.peer])
        findings[link.identifier] = found
    }

    /// Records and checks the result of a discovery of the whole database.
    func discovered(_ database: DiscoveredDatabase, by call: CallLedger.Call, on link: UserLink) {
        checkFreshness(database, call, link)
        note(database, link)
        if call.isFollowedByChange {
            run.withdraw(at: link.peer, after: .microseconds(context.draw { $0.below(20_000) }))
        }
        compare(database, call)
        checkPassing(database, link)
        guard isSurveying else { return }
        isSurveying = false
        linkCalls.disconnect(link)
    }

    private func note(_ database: DiscoveredDatabase, _ link: UserLink) {
        var handles: [SimulatedService.Characteristic: ClosedRange<AttributeHandle>] = [:]
        for characteristic in database.characteristics {
            for known in SimulatedService.Characteristic.allCases
            where SimulatedService.uuid(of: known) == characteristic.uuid {
                handles[known] = characteristic.valueHandle...max(characteristic.valueHandle, characteristic.endHandle)
            }
        }
        findings[link.identifier]?.handles = handles
    }

    // MARK: - Checks

    /// Checks that attributes invalidated by a service change are not found as they were. A discovery in progress must
    /// start over or fail.
    private func checkFreshness(_ database: DiscoveredDatabase, _ call: CallLedger.Call, _ link: UserLink) {
        let peer = link.peer
        guard let change = findings[link.identifier]?.lastChange, change.instant > call.instant,
            change.epoch == run.epochs[peer], !run.incomplete.contains(station), !run.incomplete.contains(peer)
        else { return }
        for characteristic in database.characteristics where change.handles.contains(characteristic.valueHandle) {
            for known in SimulatedService.Characteristic.allCases
            where SimulatedService.uuid(of: known) == characteristic.uuid
                && run.handle(of: known, at: peer) != characteristic.valueHandle
            {
                let place = characteristic.valueHandle
                return fail(.expected, "\(known) was found at \(place), its place before a reported change")
            }
        }
    }

    /// Checks that a discovery of everything finds the service as it is.
    private func compare(_ database: DiscoveredDatabase, _ call: CallLedger.Call) {
        guard let expected = call.expectation, run.epochs[expected.peer] == expected.epoch,
            let handles = run.services[expected.peer]
        else { return }
        let service = database.services.first { $0.uuid == SimulatedService.uuid }
        guard service?.startHandle == handles.declaration, service?.endHandle == handles.end else {
            return fail(.expected, "the service was found as \(service.map { "\($0)" } ?? "nothing")")
        }
        let definition = SimulatedService.definition(of: expected.peer)
        for (known, place) in zip(definition.characteristics, handles.characteristics) {
            let found = database.characteristics.filter { $0.uuid == known.uuid }
            guard found.count == 1, found[0].valueHandle == place.value, found[0].properties == known.properties else {
                return fail(.expected, "characteristic \(place.value) was found as \(found)")
            }
            let descriptors = database.descriptors(of: found[0]).map(\.handle)
            guard descriptors == (place.clientConfiguration.map { [$0] } ?? []) else {
                return fail(.expected, "the descriptors of \(place.value) were found as \(descriptors)")
            }
        }
    }

    /// Checks that a discovery of everything finds the existing passing services, if none was published or withdrawn
    /// since the link began.
    private func checkPassing(_ database: DiscoveredDatabase, _ link: UserLink) {
        let peer = link.peer
        // Without a Database Hash, a client keeps discovered services between links only for bonded peers.
        guard run.hasSecurity, [station, peer].allSatisfy({ !run.isDamaged($0) && !run.incomplete.contains($0) }),
            let beginning = run.pairings.linkBeginning(station, peer),
            run.passingChanges[peer].map({ $0 < beginning }) ?? true
        else { return }
        let publishers = run.users[peer].compactMap { $0 as? CallUser }
        guard !publishers.contains(where: { $0.context.calls.hasOpen { [.publish, .withdraw].contains($0.kind) } })
        else {
            return
        }
        let present = publishers.flatMap(\.parts.services.passing).map(\.declaration).sorted()
        let found = database.services.filter { $0.uuid == SimulatedService.passing }.map(\.startHandle).sorted()
        if found != present { fail(.expected, "temporary services were found at \(found), but are at \(present)") }
    }
}
