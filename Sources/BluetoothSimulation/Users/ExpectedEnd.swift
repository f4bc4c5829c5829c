import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The end that an operation on a peer's service must have, independent of the implementations of client and server.
struct ExpectedEnd {
    /// The station of the peer, and the number of its service changes.
    var peer: Int
    var epoch: Int
    /// The error that must be returned; nil if the operation must succeed.
    var refusal: ATTErrorCode?
    /// Errors that may be returned instead.
    var possible: Set<ATTErrorCode> = []
    var result = Result.any
    /// Whether the operation involves an attribute that requires encryption.
    var needsEncryption = false

    enum Result {
        case any
        /// This complete value.
        case value([UInt8])
        /// The beginning of this value, up to the length of a Read Response.
        case beginning([UInt8])
        /// The beginning of the value of this characteristic, the only one of its type.
        case typed(AttributeHandle, [UInt8])
        /// The complete values of the first of these handles, up to the last one that fits.
        case several([AttributeHandle], [[UInt8]?])
    }

    /// Compares the actual end of an operation with the expected one. Returns a violation, or nil if the end is
    /// correct.
    ///
    /// - Parameter mtu: the ATT_MTU when the operation ends. It may have been exchanged since the request.
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
        // Errors of the client itself, and lost links.
        case .failure: return nil
        case .success(let value):
            if let refusal { return (.permission, "success came instead of “\(refusal)”") }
            return isExpected(value, mtu) ? nil : (.expected, "the result was \(value)")
        }
    }

    /// The ATT_MTUs that a bearer may have had: before and after the exchange, and that of an enhanced bearer, which is
    /// at least 64 (Core 5.4, Vol 3, Part G, 5.3.1).
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
    /// The error for a peer that reads the characteristic without encryption; nil if reading is permitted.
    var readRefusal: ATTErrorCode? {
        switch self {
        case .stored, .dynamic, .constant: nil
        case .stream, .commands, .writeOnly, .card: .readNotPermitted
        case .locked: .insufficientAuthentication
        }
    }

    /// The error for a peer that writes the characteristic without encryption; nil if writing is permitted.
    var writeRefusal: ATTErrorCode? {
        switch self {
        case .stored, .dynamic, .commands, .writeOnly: nil
        case .stream, .constant, .card: .writeNotPermitted
        case .locked: .insufficientAuthentication
        }
    }

    /// Like `readRefusal`, but nil for `locked` in worlds with security, because the link may be encrypted by then.
    func readRefusal(_ run: ScenarioRun) -> ATTErrorCode? { self == .locked && run.hasSecurity ? nil : readRefusal }

    func writeRefusal(_ run: ScenarioRun) -> ATTErrorCode? { self == .locked && run.hasSecurity ? nil : writeRefusal }

    /// Errors that the application may return on its own.
    var ownRefusals: Set<ATTErrorCode> { self == .dynamic ? [.unlikelyError] : [] }

    /// The value of the characteristic, if it is constant.
    func value(at station: Int) -> [UInt8]? {
        switch self {
        case .constant: SimulatedValue(.constant, station: station, stream: 0, number: 0).bytes(count: 300)
        case .dynamic: SimulatedValue(.dynamic, station: station, stream: 0, number: 1).bytes(count: 60)
        case .stream, .stored, .commands, .locked, .writeOnly, .card: nil
        }
    }
}
