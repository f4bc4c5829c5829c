import BluetoothBase
import BluetoothCrypto
import BluetoothGAP
import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// A user's scans, and the peer IDs under which its host reports advertisers. Its only state is its calls.
final class UserScanning: UserPart {
    let context: UserContext

    init(_ context: UserContext) { self.context = context }

    func scan(_ pick: inout SeededGenerator) {
        guard calls.tokens(where: { $0.kind == .scan }).count < 4 else { return }
        let filter = pick.oneIn(2) ? ScanFilter() : ScanFilter(services: [SimulatedService.uuid])
        let parameters = ScanParameters(isActive: pick.oneIn(2), reportsDuplicates: pick.oneIn(4))
        context.postStanding(
            .scan(filter, parameters),
            CallLedger.Call(kind: .scan, isStanding: true, isForService: !filter.services.isEmpty))
    }

    /// Scans for all advertisements.
    func listen() {
        context.postStanding(
            .scan(ScanFilter(), ScanParameters(isActive: false, reportsDuplicates: true)),
            CallLedger.Call(kind: .scan, isStanding: true))
    }

    /// Whether this user scans.
    var isWanted: Bool { !calls.tokens { $0.kind == .scan }.isEmpty }

    /// Some scans continue, so that the end of the world can check them. All of them would fill the remaining time with
    /// reports.
    func calm() {
        for token in calls.tokens(where: { $0.kind == .scan }) where !context.draw({ $0.oneIn(4) }) {
            context.callOff(token)
        }
    }

    /// Checks that a scan reports only devices that match its filter.
    func sighted(by token: CallToken, _ range: Range<Int>, _ batch: borrowing EventBatch) {
        guard let scan = calls.standing[token] ?? calls.open[token], range.upperBound <= batch.sightings.count else {
            return fail(.endsOnce, "a sighting was reported without a scan")
        }
        for index in range { check(batch.sightings[index], for: scan) }
    }

    private func check(_ sighting: Sighting, for scan: CallLedger.Call) {
        checkSet(sighting)
        if !sighting.isAnonymous { checkName(sighting.peer, of: sighting.address) }
        if run.anyTaintedStation == nil, !sighting.isAnonymous, run.station(at: sighting.address) == nil {
            fail(.expected, "\(sighting.address) was sighted, but no station has this address")
        }
        if scan.isForService, !sighting.serviceUUIDs.contains(SimulatedService.uuid) {
            fail(.expected, "a sighting lacks the service that the scan requires")
        }
    }

    /// Checks that the data of a set arrives complete, or is reported as truncated.
    private func checkSet(_ sighting: Sighting) {
        guard !sighting.eventType.contains(.legacy), !sighting.details.isTruncated, run.anyTaintedStation == nil,
            !SetPattern.isWhole(sighting.advertisingData)
        else { return }
        fail(.expected, "\(sighting.advertisingData.count) octets of a set differ from the advertised data")
    }

    /// Checks that a resolvable private address has the name of the bond whose IRK resolves it, and no other name (Core
    /// 5.4, Vol 6, Part B, 1.3.2.3).
    func checkName(_ name: PeerID, of address: DeviceAddress) {
        guard run.scenario.hasPrivateAddresses, address.randomKind == .resolvablePrivate, !run.isDamaged(station),
            run.anyTaintedStation == nil
        else { return }
        let store = run.bondStores[station]
        let crypto = LibraryToolbox()
        var owners: Set<PeerID> = []
        for bond in store.all {
            guard let key = bond.identity?.resolvingKey, key != 0 else { continue }
            let isResolved = crypto.resolves(address, resolvingKey: key)
            if isResolved { owners.insert(bond.peer) }
            if bond.peer == name, !isResolved {
                fail(.expected, "\(address) was resolved to \(name), whose key does not resolve it")
            }
        }
        // The store is behind the host until the disk has performed all changes.
        let changes = [store.lastChange, run.pairings.lastRemovalWish(of: station)].compactMap(\.self)
        guard !run.isStoring(station), changes.allSatisfy({ $0.advanced(by: .seconds(2)) < now }) else {
            return
        }
        let isKnown = run.linkedAddresses[station]?.contains(address) ?? false
        if name != PeerID(address), !isKnown, !store.all.contains(where: { $0.peer == name }) {
            fail(.expected, "\(address) was resolved to \(name), which is not bonded")
        }
        guard owners.count == 1, let owner = owners.first, owner != name else { return }
        fail(.expected, "\(address) was resolved to \(name), but the key of \(owner) resolves it")
    }
}

extension ScenarioRun {
    /// The name by which a station reaches another: its identity if they are bonded, and otherwise its current address.
    func reachableName(of peer: Int, from station: Int) -> PeerID {
        if scenario.hasPrivateAddresses, bond(station, with: peer) == nil,
            let address = world.privateAddresses?.current(of: peer)
        {
            return PeerID(address)
        }
        return PeerID(address(of: peer))
    }
}
