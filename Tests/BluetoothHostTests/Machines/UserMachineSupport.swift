import BluetoothATT
import Testing

@testable import BluetoothGATT
@testable import BluetoothHost
@testable import BluetoothUsers

extension UserCall {
    /// A call of these tests.
    init(_ token: UInt64, of user: UInt32 = 1) {
        self.init(user: UserID(number: user), token: CallToken(rawValue: token))
    }
}

extension PendingOperation {
    /// An operation of these tests, under way on the fixed channel.
    init(_ number: UInt32, _ operation: GATTClientOperation, _ purpose: Purpose, dropCount: UInt32 = 0) {
        self.init(
            identifier: GATTClient.OperationID(
                channel: .first, place: UInt16(truncatingIfNeeded: number), number: number),
            purpose: purpose, findsAllServices: false, operation: operation, isRepeatable: true, lane: .none,
            beginnings: 1, dropCount: dropCount)
    }
}

extension GATTClientResult {
    /// The answer of a peer with this Database Hash: sixteen octets, the first one first.
    static func databaseHash(_ hash: UInt8) -> GATTClientResult {
        .values([AttributeValue(handle: 9, value: [hash] + [UInt8](repeating: 0, count: 15))])
    }
}

extension OperationScheduler {
    /// Adds an operation that finds room.
    mutating func add(_ operation: Operation, for wait: Wait, sourceLocation: SourceLocation = #_sourceLocation) {
        let isHeld = hold(operation, for: wait)
        #expect(isHeld, sourceLocation: sourceLocation)
    }

    /// Adds a call that finds room.
    mutating func add(_ call: HostCall, sourceLocation: SourceLocation = #_sourceLocation) {
        let isHeld = hold(call, for: .turn)
        #expect(isHeld, sourceLocation: sourceLocation)
    }
}
