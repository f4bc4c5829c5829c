import BluetoothBase

/// A device that a scan has found: its `CBPeripheral`, and the last advertisement given to the application.
final class Discovery {
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
    typealias Devices = [PeerID: Discovery]

    /// The number of the scan; nil if there is none.
    private var scan: UInt64?
    private var recent: Devices = [:]
    /// The devices that were recent before, which are dropped next.
    private var older: Devices = [:]

    /// The size of a generation: between this many and twice as many devices are kept.
    private static let capacity = 256

    init(scan: UInt64? = nil) { self.scan = scan }

    /// Starts again, with another scan or without one.
    mutating func begin(_ scan: UInt64?) -> Discoveries {
        let before = self
        self = Discoveries(scan: scan)
        return before
    }

    func find(_ peer: PeerID, in scan: UInt64) -> Discovery? {
        guard self.scan == scan else { return nil }
        return recent[peer] ?? older[peer]
    }

    /// Keeps a device, and returns its previous entry and the entries that are dropped.
    mutating func add(_ discovery: Discovery, for peer: PeerID, in scan: UInt64) -> (Discovery?, Devices) {
        guard self.scan == scan else { return (nil, [:]) }
        let before = recent.updateValue(discovery, forKey: peer)
        guard recent.count > Self.capacity else { return (before, [:]) }
        defer {
            older = recent
            recent = [:]
        }
        return (before, older)
    }

    mutating func remove(_ peer: PeerID) -> (Discovery?, Discovery?) {
        (recent.removeValue(forKey: peer), older.removeValue(forKey: peer))
    }
}
