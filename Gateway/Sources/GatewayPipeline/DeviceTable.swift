import BluetoothBase

/// The devices that a pipeline remembers: a bounded number, with one record each. Removing a device removes all that is known of it,
/// and its places in the two queues.
struct DeviceTable: Sendable {
    private var records: RecencyTable<DeviceAddress, Device>
    /// Devices held up by a cap, in the order in which they are served.
    private var waiting = SlotQueue<Void>()
    /// Devices whose window is open, with its end, in the order in which the windows end.
    private var windows = SlotQueue<Instant>()

    init(capacity: Int) { records = RecencyTable(capacity: capacity) }

    var count: Int { records.count }
    var isFull: Bool { records.isFull }
    /// The device that was not heard for longest.
    var oldestSlot: Int? { records.oldestSlot }

    func contains(_ identity: DeviceAddress) -> Bool { records.contains(identity) }

    /// The identity of the device in a slot.
    func identity(at slot: Int) -> DeviceAddress { records.key(at: slot) }

    subscript(slot: Int) -> Device {
        get { records[slot] }
        _modify { yield &records[slot] }
    }

    /// Where a device is; it becomes the newest.
    mutating func use(_ identity: DeviceAddress) -> Int? { records.use(identity) }

    /// Adds a device that is not in the table, as the newest.
    ///
    /// - Precondition: the table is not full.
    mutating func insert(_ identity: DeviceAddress, _ device: Device) -> Int { records.insert(identity, device) }

    mutating func remove(_ slot: Int) {
        waiting.remove(slot)
        windows.remove(slot)
        records.remove(slot)
    }

    // MARK: - Caps

    /// How many devices wait for a cap.
    var waitingCount: Int { waiting.count }

    func isWaiting(_ slot: Int) -> Bool { waiting[slot] != nil }

    /// Lets a device wait for a cap, behind those that wait already.
    mutating func wait(_ slot: Int) { waiting.append(slot, ()) }

    /// Takes the device that has waited for longest out of the queue.
    mutating func takeWaiting() -> Int? {
        guard let slot = waiting.first?.slot else { return nil }
        waiting.remove(slot)
        return slot
    }

    // MARK: - Windows

    /// The window that ends first.
    var firstWindow: (slot: Int, end: Instant)? { windows.first.map { ($0.slot, $0.value) } }

    func hasWindow(_ slot: Int) -> Bool { windows[slot] != nil }

    /// Opens a window, which must not end before the others. A window that is open stays as it is.
    mutating func openWindow(_ slot: Int, until end: Instant) { windows.append(slot, end) }

    mutating func closeWindow(_ slot: Int) { windows.remove(slot) }
}
