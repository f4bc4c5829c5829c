import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// Operations on the services of peers, with checks of their ends. Its only state is its calls.
final class UserOperations: UserPart {
    let context: UserContext
    private let discovery: UserDiscovery

    init(_ context: UserContext, discovery: UserDiscovery) {
        self.context = context
        self.discovery = discovery
    }

    // MARK: - Turns

    func operate(
        _ kind: Scenario.Action.Kind, _ link: UserLink, on chosen: SimulatedService.Characteristic,
        _ pick: inout SeededGenerator
    ) {
        let all = SimulatedService.Characteristic.allCases
        guard let handle = discovery.handle(of: chosen, on: link),
            let other = pick.element(of: all), let second = discovery.handle(of: other, on: link)
        else { return }
        let length = [10, 20, 20, 100, 300, 512][pick.below(6)]
        let value = SimulatedValue(chosen, station: station, stream: 0, number: run.nextNumber()).bytes(count: length)
        let operation: GATTClientOperation
        switch kind {
        case .read: operation = .read(handle)
        case .readLong: operation = .readLong(handle, offset: pick.oneIn(4) ? 5 : 0)
        case .readByUUID: operation = .readByUUID(SimulatedService.uuid(of: chosen))
        case .readMultiple:
            let handles = [handle, second, handle]
            operation = pick.oneIn(2) ? .readMultiple(handles) : .readMultipleVariable(handles)
        case .write: operation = .write(handle, value)
        case .writeLong: operation = .writeLong(handle, value)
        default:
            operation = .writeReliably([
                AttributeValue(handle: handle, value: value), AttributeValue(handle: second, value: [1, 2, 3]),
            ])
        }
        let isPair = kind == .readMultiple || kind == .writeReliably
        let expectation = expectation(operation, of: chosen, and: isPair ? other : nil, link.peer)
        let stored = storedUse(operation, link.peer)
        post(
            kind == .write ? .write(link.identifier, handle, value) : .perform(link.identifier, operation),
            CallLedger.Call(kind: kind, link: link.identifier, expectation: expectation, stored: stored))
    }

    /// Writes a Client Characteristic Configuration without a subscription.
    func configure(_ link: UserLink, _ pick: inout SeededGenerator) {
        guard let descriptor = run.configurables[link.peer]?.characteristics.first?.clientConfiguration else { return }
        let all: [GATTClientConfiguration] = [[], .notifications, .indications, [.notifications, .indications]]
        var call = CallLedger.Call(kind: .configure, link: link.identifier, handle: descriptor)
        call.configuration = all[pick.below(all.count)]
        call.epoch = run.epochs[link.peer]
        post(.perform(link.identifier, .configure(descriptor: descriptor, call.configuration ?? [])), call)
    }

    /// Notes the configuration that a client has written, or nil if the client does not know it.
    func noteConfigured(_ call: CallLedger.Call, _ value: GATTClientConfiguration?) {
        guard let handle = call.handle, let link = call.link.flatMap({ links[$0] }) else { return }
        let way = ScenarioRun.Way(station: station, peer: link.peer)
        // The answer may arrive after another service has taken the handle.
        let isOutdated = call.epoch.map { $0 != run.epochs[link.peer] } ?? false
        // Writes over several bearers are not ordered, neither in transit nor in their responses.
        let isOneOfSeveral =
            run.isEncrypted(station, link.peer)
            && run.users[station].contains {
                ($0 as? CallUser)?.context.calls.hasOpen {
                    $0.kind == .configure && $0.link == link.identifier && $0.handle == handle
                } ?? false
            }
        let isUnsure =
            isOutdated || isOneOfSeveral
            || run.configurations[way].map { $0.link == link.identifier && $0.value == nil } ?? false
        run.configurations[way] = (handle, link.identifier, isUnsure ? nil : value)
    }

    // MARK: - Ends

    /// An operation has succeeded.
    func check(_ result: GATTClientResult, of call: CallLedger.Call) {
        guard let link = call.link.flatMap({ links[$0] }) else {
            return fail(.endsOnce, "\(call.kind.rawValue) succeeded on a link that has ended")
        }
        let peer = link.peer
        // An enhanced bearer requires an encrypted link, and has its own ATT_MTU: at least 64 octets, and up to what
        // this host accepts.
        let mtu = link.information.mtu
        let offered = Int(run.scenario.devices[station].preferredMTU)
        let longest = (run.isEncrypted(station, peer) ? max(64, mtu, offered) : mtu) - 1
        if call.kind == .read, case .value(let value) = result, value.count > longest {
            fail(.mtu, "\(value.count) octets were read at an ATT_MTU of \(mtu)")
        }
        guard !run.isTainted(station), !run.isTainted(peer) else { return }
        compare(.success(result), call)
        switch result {
        case .value(let value): check(value.span, from: peer, call)
        case .values(let values):
            for value in values { check(value.value.span, from: peer, call) }
        case .database(let database): discovery.discovered(database, by: call, on: link)
        case .mtu, .services, .includes, .characteristics, .descriptors, .written: return
        }
    }

    /// Checks that a value that was read was written before, and that it may be read.
    private func check(_ bytes: Span<UInt8>, from peer: Int, _ call: CallLedger.Call) {
        // Values of the stack's own services, and of passing services, are not checked here.
        guard bytes.count >= SimulatedValue.leastCount, bytes[0] & 0xF0 == 0xA0 else { return }
        guard let value = SimulatedValue(bytes) else {
            // Concatenated values are only checked as a whole, and another client may write between the parts of a long
            // one.
            if call.kind == .read, run.anyTaintedStation == nil {
                fail(
                    .valueOrder,
                    "\(call.kind.rawValue) returned \(Array(bytes.copied().prefix(16)))…, which no station wrote")
            }
            return
        }
        switch value.characteristic {
        case .locked:
            if !run.isEncrypted(station, peer) {
                fail(.permission, "\(call.kind.rawValue) returned a value that requires encryption")
            }
        case .writeOnly: fail(.permission, "\(call.kind.rawValue) returned a value that is not readable")
        case .constant, .dynamic:
            if value.station != peer { fail(.valueOrder, "station \(peer) sent a value of station \(value.station)") }
        case .stream, .stored, .commands, .card: return
        }
    }

    /// Compares the end of an operation with its expected end.
    func compare(_ end: Result<GATTClientResult, GATTClientError>, _ call: CallLedger.Call) {
        guard let expected = call.expectation, run.epochs[expected.peer] == expected.epoch,
            !run.isTainted(station), !run.isTainted(expected.peer), let link = call.link.flatMap({ links[$0] })
        else { return }
        if expected.needsEncryption, case .success = end, !run.isEncrypted(station, expected.peer) {
            fail(.permission, "\(call.kind.rawValue) succeeded over an unencrypted link")
        }
        // Client and server may disagree about the ATT_MTU if its exchange was lost.
        let isSure = [station, expected.peer].allSatisfy {
            !run.incomplete.contains($0) && !run.world.stations[$0].wire.hasOverflowed
        }
        guard let finding = expected.finding(end, mtu: link.information.mtu),
            isSure || finding.rule != .expected
        else { return }
        fail(finding.rule, "\(call.kind.rawValue): \(finding.text)")
    }
}
