import BluetoothATT
import Foundation

/// A service: one discovered on a peripheral, or one of this application's.
open class CBService: CBAttribute {
    /// The peripheral that has the service; nil for one of this application's, or when the peripheral is gone.
    open internal(set) weak var peripheral: CBPeripheral?
    /// Whether the service is primary. A secondary service is found through a service that includes it.
    open var isPrimary: Bool { isPrimaryService }
    /// The included services discovered so far; nil before the first discovery.
    open var includedServices: [CBService]? { included }
    /// The characteristics discovered so far; nil before the first discovery.
    open var characteristics: [CBCharacteristic]? { members }

    private let isPrimaryService: Bool
    /// The handles of a discovered service in the peer's database.
    @Guarded private(set) var handles: ClosedRange<AttributeHandle>
    @Guarded var included: [CBService]?
    @Guarded var members: [CBCharacteristic]?

    init(
        _ type: CBUUID, isPrimary: Bool, handles: ClosedRange<AttributeHandle> = 0...0, peripheral: CBPeripheral? = nil
    ) {
        self.peripheral = peripheral
        isPrimaryService = isPrimary
        self.handles = handles
        super.init(type, at: handles.lowerBound)
    }

    /// After restoration, takes the current handles of the service.
    func move(to handles: ClosedRange<AttributeHandle>) {
        self.handles = handles
        handle = handles.lowerBound
    }

    open override var description: String {
        "<CBService: isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
    }
}

/// A service that this application offers.
open class CBMutableService: CBService {
    /// The services that this one includes. They must be added first.
    open override var includedServices: [CBService]? {
        get { included }
        set { included = newValue }
    }

    /// The characteristics of the service. They must not change after `CBPeripheralManager.add` was called.
    open override var characteristics: [CBCharacteristic]? {
        get { members }
        set {
            members = newValue
            for characteristic in newValue ?? [] { characteristic.owner = self }
        }
    }

    /// Creates a service without characteristics.
    ///
    /// - Parameters:
    ///   - UUID: the service's UUID.
    ///   - isPrimary: whether it is a primary service.
    public init(type UUID: CBUUID, primary isPrimary: Bool) {
        super.init(UUID, isPrimary: isPrimary)
    }
}
