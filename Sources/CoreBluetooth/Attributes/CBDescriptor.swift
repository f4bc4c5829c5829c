import BluetoothATT
import BluetoothBase
import BluetoothGATT
import Foundation

/// A characteristic descriptor.
open class CBDescriptor: CBAttribute {
    /// The characteristic it belongs to; nil when the characteristic is gone.
    open weak var characteristic: CBCharacteristic? { owner }

    /// The value that was last read; nil before that. It is a `String` for Characteristic User Description, an
    /// `NSNumber` for Characteristic Extended Properties and for Client and Server Characteristic Configuration, and
    /// `Data` otherwise.
    open var value: Any? { currentValue }

    private let ownerReference = WeakReference<CBCharacteristic>()
    @Guarded private var currentValue: Any?

    var owner: CBCharacteristic? {
        get { ownerReference.object }
        set { ownerReference.object = newValue }
    }

    init(discovered: DiscoveredDescriptor, of characteristic: CBCharacteristic) {
        super.init(CBUUID(discovered.uuid), at: discovered.handle)
        owner = characteristic
    }

    init(_ type: CBUUID, _ value: Any?) {
        super.init(type, at: 0)
        currentValue = value
    }

    /// Keeps the value that was read.
    func take(_ data: Data) {
        switch uuid.bluetoothUUID.uint16 {
        case 0x2901: currentValue = String(decoding: data, as: UTF8.self)
        case 0x2900, 0x2902, 0x2903:
            currentValue = NSNumber(value: data.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
        default: currentValue = data
        }
    }

    open override var description: String { "<CBDescriptor: UUID = \(uuid), value = \(value ?? "nil")>" }
}

/// A descriptor that this application offers.
open class CBMutableDescriptor: CBDescriptor {
    /// Creates a descriptor to add to a characteristic.
    ///
    /// - Parameters:
    ///   - UUID: the descriptor's UUID. The stack manages 2900, 2902 and 2903 itself, so these cannot be published.
    ///   - value: a `String` for Characteristic User Description, otherwise `Data`. A value of another type is a
    ///     programming error for Characteristic User Description and Characteristic Presentation Format.
    public init(type UUID: CBUUID, value: Any?) {
        switch UUID.bluetoothUUID.uint16 {
        case 0x2901:
            precondition(value is String, "The value of a User Description descriptor must be a String")
        case 0x2904:
            precondition(value is Data, "The value of a Characteristic Presentation Format descriptor must be Data")
        default: break
        }
        super.init(UUID, value)
    }
}
