import BluetoothBase

/// A device that a scan has found: its `CBPeripheral`, and the last advertisement given to the application.
final class Discovery {
    let peripheral: CBPeripheral
    let advertisement: AdvertisementTemplate
    /// What was known of Device Names when the peripheral was given its name.
    let namesVersion: UInt64

    init(_ peripheral: CBPeripheral, _ advertisement: AdvertisementTemplate, namesVersion: UInt64) {
        self.peripheral = peripheral
        self.advertisement = advertisement
        self.namesVersion = namesVersion
    }
}

/// The devices that the scan under way has found last, so that the next report of one of them finds its peripheral there,
/// even where the application does not hold it. Only peripherals that are disconnected are kept: letting go of another one
/// ends its connection.
///
/// What is dropped is returned, to be let go of when no lock is held.
struct Discoveries {
    typealias Devices = [PeerID: Discovery]

    /// The scan, by its number; nil where there is none.
    private var scan: UInt64?
    private var recent: Devices = [:]
    /// Those that were recent before, and are dropped next.
    private var older: Devices = [:]

    /// So many devices are kept at least, and at most twice as many.
    private static let capacity = 256

    init(scan: UInt64? = nil) { self.scan = scan }

    /// Begins anew, with another scan or without one.
    mutating func begin(_ scan: UInt64?) -> Discoveries {
        let before = self
        self = Discoveries(scan: scan)
        return before
    }

    func find(_ peer: PeerID, in scan: UInt64) -> Discovery? {
        guard self.scan == scan else { return nil }
        return recent[peer] ?? older[peer]
    }

    /// Keeps a device, in place of what was kept of it before.
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
