import BluetoothBase
import BluetoothGAP
import DBus

/// What a device advertises, as clients see it.
struct Advertised {
    private var advertisingData: [UInt8] = []
    private var scanResponseData: [UInt8] = []
    /// When a change was last announced, in microseconds of the monotonic clock.
    private var lastAnnounced: UInt64 = 0
    private(set) var name: String?
    private(set) var rssi: Int8?
    private(set) var txPower: Int8?
    private(set) var flags: UInt8?
    private(set) var appearance: UInt16?
    private(set) var serviceUUIDs: [BluetoothUUID] = []
    private(set) var manufacturerData: [AdvertisementData.ManufacturerData] = []
    private(set) var serviceData: [AdvertisementData.ServiceData] = []

    /// How often the signal strength is announced even if it is the same: as often as BlueZ restarts its scan. A client
    /// may miss the first signal, if it arrives with the reply to `StartDiscovery`.
    private static let signalInterval: UInt64 = 10_240_000

    /// Takes over a sighting. Returns the names of the properties that have changed.
    mutating func update(_ sighting: borrowing Sighting, at now: UInt64, reportsDuplicates: Bool) -> [String] {
        let isNew =
            sighting.advertisingData != advertisingData || sighting.scanResponseData != scanResponseData
        let isDue = now - lastAnnounced > Self.signalInterval
        guard isNew || reportsDuplicates || isDue else { return [] }
        var changes: [String] = []
        if rssi != sighting.rssi || isDue && rssi != nil {
            rssi = sighting.rssi
            changes.append("RSSI")
        }
        if isNew { changes += updateData(sighting) }
        if reportsDuplicates {
            if !manufacturerData.isEmpty { changes.append("ManufacturerData") }
            if !serviceData.isEmpty { changes.append("ServiceData") }
        }
        if !changes.isEmpty { lastAnnounced = now }
        return changes
    }

    private mutating func updateData(_ sighting: borrowing Sighting) -> [String] {
        advertisingData = sighting.advertisingData
        scanResponseData = sighting.scanResponseData
        let data = sighting.advertisement
        var changes: [String] = []
        func set<Value: Equatable>(_ current: inout Value, _ new: Value, _ property: String) {
            guard current != new else { return }
            current = new
            changes.append(property)
        }
        set(&txPower, sighting.txPowerLevel, "TxPower")
        if let flags = data.flags?.rawValue { set(&self.flags, flags, "AdvertisingFlags") }
        if let appearance = data.appearance?.rawValue { set(&self.appearance, appearance, "Appearance") }
        let added = data.serviceUUIDs.filter { !serviceUUIDs.contains($0) }
        if !added.isEmpty, serviceUUIDs.count + added.count <= Self.uuidLimit {
            serviceUUIDs += added
            changes.append("UUIDs")
        }
        set(&manufacturerData, data.manufacturerData, "ManufacturerData")
        set(&serviceData, data.serviceData, "ServiceData")
        if let text = data.localName?.text { name = BusText.valid(text) }
        return changes
    }

    /// A device whose services keep changing does not collect more.
    private static let uuidLimit = 128

    /// Forgets the signal strength and the transmit power. Returns the properties that have changed.
    mutating func forgetSignal() -> [String] {
        var changes: [String] = []
        if rssi != nil { changes.append("RSSI") }
        if txPower != nil { changes.append("TxPower") }
        rssi = nil
        txPower = nil
        // The next sighting announces both again.
        advertisingData = []
        scanResponseData = []
        return changes
    }
}

// MARK: - Properties

extension Advertised {
    /// Appends `Device1.ManufacturerData`.
    func appendManufacturerData(to message: any ValueWriter) throws(BusFailure) {
        try message.open("a", "{qv}")
        for entry in manufacturerData {
            try message.open("e", "qv")
            try message.append(entry.companyID)
            try message.append(variantOctets: entry.data)
            try message.close()
        }
        try message.close()
    }

    /// Appends `Device1.ServiceData`.
    func appendServiceData(to message: any ValueWriter) throws(BusFailure) {
        try message.open("a", "{sv}")
        for entry in serviceData {
            try message.open("e", "sv")
            try message.append(name: TextForm.uuid(entry.uuid))
            try message.append(variantOctets: entry.data)
            try message.close()
        }
        try message.close()
    }
}
