import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// What must come of an operation on the service of a peer, whatever its server and the client make of it.
struct ExpectedEnd {
    /// The station of the peer, and how often its service had changed.
    var peer: Int
    var epoch: Int
    /// The errors of which one must come; any success if there are none.
    var refusal: ATTErrorCode?
    /// Errors that may come instead.
    var possible: Set<ATTErrorCode> = []
    var result = Result.any
    /// Whether it concerns what is for encrypted links.
    var needsEncryption = false

    enum Result {
        case any
        /// This value, whole.
        case value([UInt8])
        /// The beginning of this value: as much as fits a Read Response.
        case beginning([UInt8])
        /// Of this characteristic, the only one of its type, the beginning of a value.
        case typed(AttributeHandle, [UInt8])
        /// Values of these handles, each whole, and as many as fit.
        case several([AttributeHandle], [[UInt8]?])
    }

    /// What is wrong with the end of an operation; nil if nothing is.
    ///
    /// - Parameter mtu: the ATT_MTU when it ends. It may have been exchanged since the request.
    func finding(
        _ end: Swift.Result<GATTClientResult, GATTClientError>, mtu: Int
    ) -> (rule: Violation.Rule, text: String)? {
        switch end {
        case .failure(.att(let error)):
            if refusal == .writeNotPermitted, error.requestOpcode == ATTOpcode.executeWriteRequest.rawValue {
                return (.permission, "a write was queued that may not be made")
            }
            if error.code == refusal || possible.contains(error.code) { return nil }
            let expected = refusal.map { "“\($0)”" } ?? "success"
            return (.expected, "“\(error.code)” came instead of \(expected)")
        case .failure(.invalidResponse(let reason)): return (.expected, "a response with \(reason)")
        // The client's own limits, and ends of links.
        case .failure: return nil
        case .success(let value):
            if let refusal { return (.permission, "success came instead of “\(refusal)”") }
            return isExpected(value, mtu) ? nil : (.expected, "the result was \(value)")
        }
    }

    /// The ATT_MTUs that a bearer may have had: before it was exchanged, after that, and that of an enhanced one, which is 64 at
    /// least (Core 5.4, Vol 3, Part G, 5.3.1).
    static func mtus(_ mtu: Int) -> Set<Int> { [23, mtu, max(64, mtu)] }

    private func isExpected(_ value: GATTClientResult, _ mtu: Int) -> Bool {
        switch (result, value) {
        case (.value(let expected), .value(let value)): value == expected
        case (.beginning(let expected), .value(let value)):
            Self.mtus(mtu).contains { value == Array(expected.prefix($0 - 1)) }
        case (.typed(let handle, let expected), .values(let values)):
            values.count == 1 && values[0].handle == handle
                && Self.mtus(mtu).contains { values[0].value == Array(expected.prefix(min($0 - 4, 253))) }
        case (.several(let handles, let expected), .values(let values)):
            values.count <= handles.count
                && values.indices.allSatisfy { index in
                    values[index].handle == handles[index]
                        && expected[index].map { $0 == values[index].value } ?? true
                }
        case (.any, _): true
        default: false
        }
    }
}

extension SimulatedService.Characteristic {
    /// Why a peer may not read it, on a link without encryption.
    var readRefusal: ATTErrorCode? {
        switch self {
        case .stored, .dynamic, .constant: nil
        case .stream, .commands, .writeOnly, .card: .readNotPermitted
        case .locked: .insufficientAuthentication
        }
    }

    /// Why a peer may not write it.
    var writeRefusal: ATTErrorCode? {
        switch self {
        case .stored, .dynamic, .commands, .writeOnly: nil
        case .stream, .constant, .card: .writeNotPermitted
        case .locked: .insufficientAuthentication
        }
    }

    /// As `readRefusal`; in worlds with security a link may be encrypted by the time.
    func readRefusal(_ run: ScenarioRun) -> ATTErrorCode? { self == .locked && run.hasSecurity ? nil : readRefusal }

    func writeRefusal(_ run: ScenarioRun) -> ATTErrorCode? { self == .locked && run.hasSecurity ? nil : writeRefusal }

    /// What the application may refuse by itself.
    var ownRefusals: Set<ATTErrorCode> { self == .dynamic ? [.unlikelyError] : [] }

    /// Its value, if that is always the same.
    func value(at station: Int) -> [UInt8]? {
        switch self {
        case .constant: SimulatedValue(.constant, station: station, stream: 0, number: 0).bytes(count: 300)
        case .dynamic: SimulatedValue(.dynamic, station: station, stream: 0, number: 1).bytes(count: 60)
        case .stream, .stored, .commands, .locked, .writeOnly, .card: nil
        }
    }
}

extension CallUser {
    /// What must come of an operation that concerns one or two characteristics; nil where that cannot be said.
    func expectation(
        _ operation: GATTClientOperation, of first: SimulatedService.Characteristic,
        and second: SimulatedService.Characteristic? = nil, _ index: Int
    ) -> ExpectedEnd? {
        let peer = links[index].peer
        let handles = [first, second ?? first].map { run.handle(of: $0, at: peer) }
        guard let handle = handles[0], let other = handles[1] else { return nil }
        var expected = ExpectedEnd(peer: peer, epoch: run.epochs[peer])
        expected.possible = first.ownRefusals.union(second?.ownRefusals ?? [])
        expected.needsEncryption = run.hasSecurity && (first == .locked || second == .locked)
        if expected.needsEncryption, !run.isSurelyEncrypted(station, peer) {
            expected.possible.formUnion([.insufficientAuthentication, .insufficientEncryption])
        }
        let value = first.value(at: peer)
        switch operation {
        case .read(handle):
            expected.refusal = first.readRefusal(run)
            if let value { expected.result = .beginning(value) }
        case .readLong(handle, let offset):
            expected.refusal = first.readRefusal(run)
            if let value { expected.result = .value(Array(value.dropFirst(Int(offset)))) }
            // Somebody may have written a short one.
            if offset > 0, value == nil { expected.possible.insert(.invalidOffset) }
        case .readByUUID(SimulatedService.uuid(of: first), _):
            expected.refusal = first.readRefusal(run)
            if let value { expected.result = .typed(handle, value) }
        case .readMultiple([handle, other, handle]):
            expected.refusal = first.readRefusal(run) ?? second?.readRefusal(run)
        case .readMultipleVariable([handle, other, handle]):
            expected.refusal = first.readRefusal(run) ?? second?.readRefusal(run)
            expected.result = .several([handle, other, handle], [value, second?.value(at: peer), value])
        case .write(handle, _), .writeLong(handle, _): expected.refusal = first.writeRefusal(run)
        case .writeReliably(let values) where values.map(\.handle) == [handle, other]:
            expected.refusal = first.writeRefusal(run) ?? second?.writeRefusal(run)
        default: return nil
        }
        return expected
    }

    /// Compares the end of an operation with what must come of it.
    func compare(_ end: Result<GATTClientResult, GATTClientError>, _ call: CallLedger.Call) {
        guard let expected = call.expectation, run.epochs[expected.peer] == expected.epoch,
            !run.isTainted(station), !run.isTainted(expected.peer), let index = call.link.flatMap(index)
        else { return }
        if expected.needsEncryption, case .success = end, !run.isEncrypted(station, expected.peer) {
            fail(.permission, "\(call.kind.rawValue) succeeded over a link that is not encrypted")
        }
        // The two may differ about the ATT_MTU where its exchange was lost.
        let isSure = [station, expected.peer].allSatisfy {
            !run.incomplete.contains($0) && !run.world.stations[$0].wire.hasOverflowed
        }
        guard let finding = expected.finding(end, mtu: links[index].information.mtu),
            isSure || finding.rule != .expected
        else { return }
        fail(finding.rule, "\(call.kind.rawValue): \(finding.text)")
    }

    /// Whoever has found everything has found the service as it is.
    func compare(_ database: DiscoveredDatabase, _ call: CallLedger.Call) {
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
}
