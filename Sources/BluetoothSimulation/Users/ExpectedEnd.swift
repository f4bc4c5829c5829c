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
