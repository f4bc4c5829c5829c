import BluetoothGATT
import CoreBluetooth
import Foundation

/// A peripheral as a delegate user knows it, and what the user has still to be told of it.
final class DelegatePeer {
    /// Where the connection stands by what the user has asked for and was told.
    enum Phase {
        case idle, connecting, connected, disconnecting
    }

    /// Something that was asked for and ends with one callback, in the order of the calls.
    struct Operation: Equatable {
        enum Kind: String {
            case services, includes, characteristics, descriptors, read, write, notify
        }

        var kind: Kind
        /// What it is about; nil for the peripheral itself.
        var target: ObjectIdentifier?
        /// How often the service of the peer had changed when it was asked for, where nobody would tell of more changes.
        private(set) var unwatchedEpoch: Int?
        /// Keeps the object, so that no other has its identifier meanwhile.
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
    /// How many ends that were asked for have not been told.
    var cancellations = 0
    private(set) var operations: [Operation] = []
    var rssiReads = 0
    /// Whether a write without response was held back, which `peripheralIsReady` ends.
    var isAwaitingReady = false
    /// Writes without response that are still to be made, and the stream they belong to.
    var commandsLeft = 0
    var commands: UserLink.Stream?
    var received = StreamOrder()
    var card = ChunkedMessageReceiver()
    /// Whether what `card` holds began with the beginning of a card.
    var isCardWhole = false
    /// Whether services of the peer have changed on this connection, as far as the user was told.
    var hasChanged = false
    /// How often the service had changed when the services were asked for that the user has found; nil where it is told of each
    /// change since.
    private(set) var unwatchedEpoch: Int?

    init(_ peripheral: CBPeripheral, at station: Int) {
        self.peripheral = peripheral
        self.station = station
    }

    var isConnected: Bool { phase == .connected }

    /// What the user has found and may use.
    var characteristics: [CBCharacteristic] {
        (peripheral.services ?? []).flatMap { $0.characteristics ?? [] }
    }

    func begin(_ kind: Operation.Kind, _ object: AnyObject? = nil, unwatchedEpoch: Int? = nil) {
        operations.append(Operation(kind, object, unwatchedEpoch: unwatchedEpoch))
    }

    /// An operation has ended. False if it is not the one whose turn it was.
    func end(_ kind: Operation.Kind, _ object: AnyObject? = nil) -> Bool {
        guard operations.first == Operation(kind, object) else { return false }
        let ended = operations.removeFirst()
        if kind == .services { unwatchedEpoch = ended.unwatchedEpoch }
        return true
    }

    func isNext(_ kind: Operation.Kind, _ object: AnyObject) -> Bool { operations.first == Operation(kind, object) }

    func awaits(_ kind: Operation.Kind, _ object: AnyObject) -> Bool { operations.contains(Operation(kind, object)) }

    /// The connection is over: what was asked for on it is void.
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

    /// What comes next need not follow what came before.
    func forgetValues() {
        received = StreamOrder()
        card = ChunkedMessageReceiver()
        isCardWhole = false
    }
}
