import BluetoothBase
import BluetoothGAP

/// A device that a scan has found: its `CBPeripheral`, and the last advertisement given to the application.
final class Discovery: @unchecked Sendable {
    // Unchecked: the peripheral is passed on to the manager's queue alone.

    let peripheral: CBPeripheral
    let advertisement: AdvertisementTemplate
    /// The version of the known Device Names when the peripheral was last given its name.
    let namesVersion: UInt64

    init(_ peripheral: CBPeripheral, _ advertisement: AdvertisementTemplate, namesVersion: UInt64) {
        self.peripheral = peripheral
        self.advertisement = advertisement
        self.namesVersion = namesVersion
    }
}

/// The devices that the current scan found most recently. The next report of such a device finds its peripheral here,
/// even if the application does not hold it. Only disconnected peripherals are kept: an application ends a connection
/// by releasing its peripheral, so nothing else may retain that.
///
/// Methods return what they drop, so that the caller releases it without holding a lock.
struct Discoveries {
    /// The number of the scan; nil if there is none.
    private var scan: UInt64?
    /// Nil where a device has been removed.
    private var table = AddressTable<Discovery?>(capacity: 512)

    init(scan: UInt64? = nil) { self.scan = scan }

    /// Starts again, with another scan or without one.
    mutating func begin(_ scan: UInt64?) -> Discoveries {
        let before = self
        self = Discoveries(scan: scan)
        return before
    }

    @inline(__always)
    func find(_ peer: PeerID, in scan: UInt64) -> Discovery? {
        guard self.scan == scan, let slot = table.slot(of: peer.firstAddress) else { return nil }
        return table[slot]
    }

    /// Keeps a device, and returns its previous entry, or the one that is dropped.
    mutating func add(_ discovery: Discovery, for peer: PeerID, in scan: UInt64) -> Discovery? {
        guard self.scan == scan else { return nil }
        let address = peer.firstAddress
        if let slot = table.slot(of: address) {
            defer { table[slot] = discovery }
            return table[slot]
        }
        var dropped: Discovery?
        if table.count == table.capacity, let oldest = table.oldest { swap(&dropped, &table[oldest]) }
        _ = table.insert(discovery, for: address)
        return dropped
    }

    mutating func remove(_ peer: PeerID) -> Discovery? {
        guard let slot = table.slot(of: peer.firstAddress) else { return nil }
        var removed: Discovery?
        // A free slot would keep it.
        swap(&removed, &table[slot])
        table.remove(slot)
        return removed
    }
}
