import BluetoothBase

/// The devices that a pipeline remembers: a bounded number, with one record each. Removing a device also removes it
/// from both queues.
struct DeviceTable: Sendable {
    private var records: RecencyTable<DeviceAddress, Device>
    /// The devices delayed by a rate limit, in the order in which they are served.
    private var waiting = SlotQueue<Void>()
    /// The devices whose averaging window is open, with its end, in the order in which the windows end.
    private var windows = SlotQueue<Instant>()

    init(capacity: Int) { records = RecencyTable(capacity: capacity) }

    var count: Int { records.count }
    var isFull: Bool { records.isFull }
    /// The slot of the device that was heard the longest time ago.
    var oldestSlot: Int? { records.oldestSlot }

    func contains(_ identity: DeviceAddress) -> Bool { records.contains(identity) }

    /// The identity of the device in a slot.
    func identity(at slot: Int) -> DeviceAddress { records.key(at: slot) }

    subscript(slot: Int) -> Device {
        get { records[slot] }
        _modify { yield &records[slot] }
    }

    /// Returns the slot of a device, and makes it the most recent one.
    mutating func use(_ identity: DeviceAddress) -> Int? { records.use(identity) }

    /// Adds a device that is not in the table, as the most recent one.
    ///
    /// - Precondition: the table is not full.
    mutating func insert(_ identity: DeviceAddress, _ device: Device) -> Int { records.insert(identity, device) }

    mutating func remove(_ slot: Int) {
        waiting.remove(slot)
        windows.remove(slot)
        records.remove(slot)
    }

    // MARK: - Rate limits

    /// The number of devices that wait for a rate limit.
    var waitingCount: Int { waiting.count }

    func isWaiting(_ slot: Int) -> Bool { waiting[slot] != nil }

    /// Adds a device to the end of the queue for a rate limit.
    mutating func wait(_ slot: Int) { waiting.append(slot, ()) }

    /// Removes the device that has waited longest from the queue, and returns its slot.
    mutating func takeWaiting() -> Int? {
        guard let slot = waiting.first?.slot else { return nil }
        waiting.remove(slot)
        return slot
    }

    // MARK: - Windows

    /// The window that ends first.
    var firstWindow: (slot: Int, end: Instant)? { windows.first.map { ($0.slot, $0.value) } }

    func hasWindow(_ slot: Int) -> Bool { windows[slot] != nil }

    /// Opens a window, which must not end before the windows that are already open. An open window is left unchanged.
    mutating func openWindow(_ slot: Int, until end: Instant) { windows.append(slot, end) }

    mutating func closeWindow(_ slot: Int) { windows.remove(slot) }
}
