import BluetoothBase

/// The devices a controller accepts when a filter policy excludes all others (Core 5.4, Vol 6, Part B, 4.3.1).
struct FilterAcceptList: Sendable {
    /// Nil means all anonymous advertisers.
    private var addresses: [DeviceAddress?] = []
    private let capacity: Int

    init(capacity: UInt8) {
        self.capacity = Int(capacity)
    }

    func contains(_ address: DeviceAddress?) -> Bool {
        addresses.contains(address)
    }

    /// Adds a device. Returns false if the list is full. Adding a device twice has no effect.
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
