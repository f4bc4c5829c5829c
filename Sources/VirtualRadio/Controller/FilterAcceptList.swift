import BluetoothBase

/// The devices a controller listens to when told to ignore all others (Core 5.4, Vol 6, Part B, 4.3.1).
struct FilterAcceptList: Sendable {
    /// Nil stands for all advertisers without an address.
    private var addresses: [DeviceAddress?] = []
    private let capacity: Int

    init(capacity: UInt8) {
        self.capacity = Int(capacity)
    }

    func contains(_ address: DeviceAddress?) -> Bool {
        addresses.contains(address)
    }

    /// Adds a device. False when the list is full; a device that is in it already takes no second place.
    mutating func insert(_ address: DeviceAddress?) -> Bool {
        if addresses.contains(address) { return true }
        guard addresses.count < capacity else { return false }
        addresses.append(address)
        return true
    }

    mutating func remove(_ address: DeviceAddress?) {
        addresses.removeAll { $0 == address }
    }

    mutating func removeAll() {
        addresses.removeAll(keepingCapacity: true)
    }
}
