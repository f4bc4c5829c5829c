import BluetoothATT
import BluetoothGATT
import Foundation

/// A characteristic: a peripheral's, or one of this application's.
open class CBCharacteristic: CBAttribute, KeyValueObservable {
    /// The service it belongs to; nil when the service is gone.
    open weak var service: CBService? { owner }
    /// The operations that the value supports.
    open var properties: CBCharacteristicProperties { allowed }
    /// The value that was last read, notified or indicated; nil before that.
    open var value: Data? { currentValue }
    /// The descriptors discovered so far; nil before the first discovery.
    open var descriptors: [CBDescriptor]? { parts }
    /// Whether the value is broadcast. Always false here.
    @available(*, deprecated, message: "values are not broadcast")
    open var isBroadcasted: Bool { false }
    /// Whether the value is notified or indicated when it changes.
    open var isNotifying: Bool { notifying }

    /// The observers that `observe(_:options:changeHandler:)` has added. They are called when `value` or
    /// `isNotifying` changes.
    public let _observers = KeyValueObservers()
    private let ownerReference = WeakReference<CBService>()
    @Guarded var allowed: CBCharacteristicProperties
    var currentValue: Data? {
        get { guardedValue.wrappedValue }
        set {
            guardedValue.wrappedValue = newValue
            _observers.changed()
        }
    }
    // A constant, because each access of a guarded variable retains and releases its guard.
    private let guardedValue = Guarded<Data?>(wrappedValue: nil)
    @Guarded var parts: [CBDescriptor]?
    @Guarded var notifying = false {
        didSet { _observers.changed() }
    }
    /// The result of discovery; nil for a characteristic of this application.
    @Guarded private(set) var discovered: DiscoveredCharacteristic?

    var owner: CBService? {
        get { ownerReference.object }
        set { ownerReference.object = newValue }
    }

    init(discovered: DiscoveredCharacteristic, of service: CBService) {
        self.discovered = discovered
        allowed = CBCharacteristicProperties(rawValue: UInt(discovered.properties.rawValue))
        super.init(CBUUID(discovered.uuid), at: discovered.valueHandle)
        owner = service
    }

    init(_ type: CBUUID, _ properties: CBCharacteristicProperties, _ value: Data?) {
        discovered = nil
        allowed = properties
        super.init(type, at: 0)
        currentValue = value
    }

    /// Sets the value to a copy of received octets.
    ///
    /// If the length is the same and the application does not hold the last value, its memory is used again.
    func setValue(to octets: borrowing Span<UInt8>) {
        let isSet = guardedValue.withLock { value in
            guard value?.count == octets.count else { return false }
            value?.withUnsafeMutableBytes { memory in octets.withUnsafeBytes { memory.copyMemory(from: $0) } }
            return true
        }
        if isSet { _observers.changed() } else { currentValue = Data(copy octets) }
    }

    /// After restoration, takes the current handles and properties of the characteristic.
    func move(to found: DiscoveredCharacteristic) {
        discovered = found
        handle = found.valueHandle
        allowed = CBCharacteristicProperties(rawValue: UInt(found.properties.rawValue))
    }

    /// The handles that may belong to descriptors; nil if there are none.
    var descriptorHandles: ClosedRange<AttributeHandle>? {
        guard let discovered, discovered.valueHandle < discovered.endHandle else { return nil }
        return AttributeHandle(discovered.valueHandle.rawValue + 1)...discovered.endHandle
    }

    /// The configuration to subscribe with: notifications if the characteristic supports them, otherwise indications.
    var configuration: GATTClientConfiguration {
        if properties.contains(.notify) { return .notifications }
        return properties.contains(.indicate) ? .indications : []
    }

    open override var description: String {
        let value = value.map { "\($0.count) octets" } ?? "nil"
        return "<CBCharacteristic: UUID = \(uuid), properties = 0x\(String(properties.rawValue, radix: 16)), "
            + "value = \(value), notifying = \(isNotifying ? "YES" : "NO")>"
    }
}

/// A characteristic that this application offers.
open class CBMutableCharacteristic: CBCharacteristic {
    /// The permissions for reading and writing the value.
    open var permissions: CBAttributePermissions {
        get { granted }
        set { granted = newValue }
    }

    /// The subscribed centrals.
    open var subscribedCentrals: [CBCentral]? { centrals }

    open override var properties: CBCharacteristicProperties {
        get { allowed }
        set { allowed = newValue }
    }

    /// A fixed value, which centrals read without a request to this application; nil if the application answers reads.
    open override var value: Data? {
        get { currentValue }
        set { currentValue = newValue }
    }

    open override var descriptors: [CBDescriptor]? {
        get { parts }
        set {
            parts = newValue
            for descriptor in newValue ?? [] { descriptor.owner = self }
        }
    }

    @Guarded private var granted: CBAttributePermissions
    @Guarded var centrals: [CBCentral] = []

    /// Creates a characteristic to add to a service.
    ///
    /// - Parameters:
    ///   - UUID: the characteristic's UUID.
    ///   - properties: the operations that the value supports.
    ///   - value: a fixed value; nil if this application answers reads.
    ///   - permissions: the permissions for reading and writing the value.
    public init(
        type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
    ) {
        granted = permissions
        super.init(UUID, properties, value)
    }
}
