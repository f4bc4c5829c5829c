import BluetoothGATT
import CoreBluetooth
import Foundation

/// A peripheral as a delegate user knows it, and the callbacks that the user still expects.
final class DelegatePeer {
    /// The state of the connection, according to the user's calls and callbacks.
    enum Phase {
        case idle, connecting, connected, disconnecting
    }

    /// An operation that was requested, and ends with one callback, in the order of the calls.
    struct Operation: Equatable {
        enum Kind: String {
            case services, includes, characteristics, descriptors, read, write, notify
        }

        var kind: Kind
        /// The object the operation is about; nil for the peripheral itself.
        var target: ObjectIdentifier?
        /// The number of service changes of the peer when the operation was requested; nil if later changes are
        /// reported.
        private(set) var unwatchedEpoch: Int?
        /// Keeps the object alive, so that its identifier is not reused.
        private let object: AnyObject?

        init(_ kind: Kind, _ object: AnyObject? = nil, unwatchedEpoch: Int? = nil) {
            self.kind = kind
            self.unwatchedEpoch = unwatchedEpoch
            target = object.map { ObjectIdentifier($0) }
            self.object = object
        }

        static func == (lhs: Operation, rhs: Operation) -> Bool { lhs.kind == rhs.kind && lhs.target == rhs.target }
    }

    let peripheral: CBPeripheral
    let station: Int
    var phase = Phase.idle
    /// The number of requested disconnections without a callback.
    var cancellations = 0
    private(set) var operations: [Operation] = []
    var rssiReads = 0
    /// Whether a write without response was held back, until `peripheralIsReady`.
    var isAwaitingReady = false
    /// The number of writes without response still to be sent, and their stream.
    var commandsLeft = 0
    var commands: UserLink.Stream?
    var received = StreamOrder()
    var card = ChunkedMessageReceiver()
    /// Whether the content of `card` starts at the beginning of a card.
    var isCardWhole = false
    /// Whether a change of the peer's services was reported on this connection.
    var hasChanged = false
    /// The number of service changes of the peer when the current services were requested; nil if all changes since
    /// then are reported.
    private(set) var unwatchedEpoch: Int?

    init(_ peripheral: CBPeripheral, at station: Int) {
        self.peripheral = peripheral
        self.station = station
    }

    var isConnected: Bool { phase == .connected }

    /// The characteristics that the user has found.
    var characteristics: [CBCharacteristic] {
        (peripheral.services ?? []).flatMap { $0.characteristics ?? [] }
    }

    func begin(_ kind: Operation.Kind, _ object: AnyObject? = nil, unwatchedEpoch: Int? = nil) {
        operations.append(Operation(kind, object, unwatchedEpoch: unwatchedEpoch))
    }

    /// Ends an operation. Returns false if it is not the next one in order.
    func end(_ kind: Operation.Kind, _ object: AnyObject? = nil) -> Bool {
        guard operations.first == Operation(kind, object) else { return false }
        let ended = operations.removeFirst()
        if kind == .services { unwatchedEpoch = ended.unwatchedEpoch }
        return true
    }

    func isNext(_ kind: Operation.Kind, _ object: AnyObject) -> Bool { operations.first == Operation(kind, object) }

    func awaits(_ kind: Operation.Kind, _ object: AnyObject) -> Bool { operations.contains(Operation(kind, object)) }

    /// Discards everything that belongs to the connection, which is over.
    func reset(to phase: Phase) {
        self.phase = phase
        hasChanged = false
        operations = []
        rssiReads = 0
        isAwaitingReady = false
        commandsLeft = 0
        commands = nil
        forgetValues()
    }

    /// Stops requiring that the next values continue the previous ones.
    func forgetValues() {
        received = StreamOrder()
        card = ChunkedMessageReceiver()
        isCardWhole = false
    }
}
