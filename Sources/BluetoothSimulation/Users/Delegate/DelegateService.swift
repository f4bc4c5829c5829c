import BluetoothBase
import CoreBluetooth
import Foundation

/// A service that a delegate user publishes, with one characteristic for each way of using a value.
final class DelegateService {
    typealias Characteristic = SimulatedService.Characteristic

    static let uuid: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA30D0"
    private static let kinds: [Characteristic] = [.stream, .stored, .commands, .locked, .constant]

    let service: CBMutableService
    let stream: CBMutableCharacteristic
    /// Whether `didAdd` is still expected.
    var isPending = true
    /// Whether the service was removed, possibly before `didAdd`.
    var isRemoved = false
    /// The value of the characteristic `stored`.
    var stored: Data
    /// The stream of values being sent, and the number of values still to be sent.
    var sending: UserLink.Stream?
    var backlog = 0
    /// Whether an update was refused, until `peripheralManagerIsReady`.
    var isAwaitingReady = false
    /// The writes without response that were received.
    var received = StreamOrder()

    init(of station: Int) {
        stored = Data(SimulatedValue(.stored, station: station, stream: 0, number: 0).bytes(count: 40))
        service = CBMutableService(type: CBUUID(Self.uuid), primary: true)
        let characteristics = Self.kinds.map { Self.make($0, station) }
        stream = characteristics[0]
        service.characteristics = characteristics
    }

    static func uuid(of kind: Characteristic) -> CBUUID { CBUUID(string: "A1" + hexadecimal(UInt8(kind.rawValue))) }

    private static func make(_ kind: Characteristic, _ station: Int) -> CBMutableCharacteristic {
        let (properties, permissions): (CBCharacteristicProperties, CBAttributePermissions) =
            switch kind {
            case .stream: ([.notify, .indicate], [])
            case .commands: ([.write, .writeWithoutResponse], .writeable)
            case .locked:
                ([.read, .write, .notifyEncryptionRequired], [.readEncryptionRequired, .writeEncryptionRequired])
            case .constant: (.read, .readable)
            default: ([.read, .write], [.readable, .writeable])
            }
        let value = SimulatedValue(kind, station: station, stream: 0, number: 0)
        return CBMutableCharacteristic(
            type: uuid(of: kind), properties: properties,
            value: kind == .constant ? Data(value.bytes(count: 300)) : nil, permissions: permissions)
    }

    func kind(of characteristic: CBCharacteristic) -> Characteristic? {
        service.characteristics?.firstIndex { $0 === characteristic }.map { Self.kinds[$0] }
    }
}

extension CBCharacteristic {
    /// The characteristic of a simulated service with the same UUID.
    var simulated: SimulatedService.Characteristic? {
        let octets = uuid.data
        guard octets.count == 2, octets[0] == 0xA0 || octets[0] == 0xA1 else { return nil }
        return SimulatedService.Characteristic(rawValue: Int(octets[1]))
    }

    /// Whether the characteristic belongs to a delegate user's service.
    var isOfDelegate: Bool { uuid.data.first == 0xA1 }
}
