import BluetoothBase

/// The advertising data and scan response data that a scan has received from a device.
///
/// The bytes are stored as received and decoded on demand, so a report without new data costs only a comparison.
public struct Sighting: Equatable, Sendable {
    /// The identity of the device. It stays the same when a bonded device changes its private address.
    public let peer: PeerID
    /// The address of the last packet. If `isAnonymous` is true, the device has no address, and this is a placeholder.
    public internal(set) var address: DeviceAddress
    /// The properties of the device's advertising. Until its advertising data has been received, the device is only
    /// known to be scannable.
    public internal(set) var eventType: AdvertisingEventType
    /// The PHYs, the advertising set and the other fields of the last packet with advertising data.
    public internal(set) var details: AdvertisingDetails
    /// The received signal strength of the last packet in dBm; nil if it was not measured.
    public internal(set) var rssi: Int8?
    /// The time at which the first packet was received. If the scan joined another one that had received the device
    /// before, this is the time at which that scan received it.
    public let firstSeen: Instant
    /// The time at which the last packet was received.
    public internal(set) var lastSeen: Instant
    /// The most recently received advertising data.
    public internal(set) var advertisingData: [UInt8] = []
    /// The most recently received scan response data; empty if no scan response was received.
    public internal(set) var scanResponseData: [UInt8] = []
    /// The transmit power in dBm that a packet itself contained. Only an extended advertising packet can contain it.
    @usableFromInline package internal(set) var packetTxPowerLevel: Int8?

    /// The maximum number of octets stored; the rest is dropped.
    static let maximumDataLength = AdvertisingReassembly.maximumLength

    init(_ report: borrowing AdvertisingReport, at now: Instant) {
        peer = report.peer
        address = report.address
        details = report.details
        eventType = report.eventType.subtracting(.scanResponse)
        firstSeen = now
        lastSeen = now
        _ = update(report, at: now)
    }

    /// Adds a packet and returns whether the data has changed. This allocates only if the data is longer than ever
    /// before.
    mutating func update(_ report: borrowing AdvertisingReport, at now: Instant) -> SightingTable.Novelty {
        lastSeen = now
        address = report.address
        rssi = report.rssi
        if let power = report.txPowerLevel { packetTxPowerLevel = power }
        if report.eventType.contains(.scanResponse) {
            return scanResponseData.update(report.data.extracting(first: Self.maximumDataLength))
        }
        details = report.details
        let novelty = advertisingData.update(report.data.extracting(first: Self.maximumDataLength))
        guard eventType != report.eventType else { return novelty }
        eventType = report.eventType
        return novelty == .repeated ? .changed : novelty
    }
}

// MARK: - Parts

extension Sighting {
    /// The parts of which some have been received.
    var parts: SightingParts {
        var parts: SightingParts = []
        if !advertisingData.isEmpty { parts.insert(.advertisingData) }
        if !scanResponseData.isEmpty { parts.insert(.scanResponseData) }
        if packetTxPowerLevel != nil { parts.insert(.txPowerLevel) }
        return parts
    }

    /// The sighting as it would be if only some of its parts had been received.
    ///
    /// - Parameter report: the last packet.
    func excerpt(_ parts: SightingParts, _ report: borrowing AdvertisingReport) -> Sighting {
        var excerpt = self
        if !parts.contains(.advertisingData) {
            excerpt.advertisingData = []
            excerpt.eventType = report.eventType.subtracting(.scanResponse)
            excerpt.details = report.details
        }
        if !parts.contains(.scanResponseData) { excerpt.scanResponseData = [] }
        if !parts.contains(.txPowerLevel) { excerpt.packetTxPowerLevel = nil }
        return excerpt
    }
}

// MARK: - Decoded data

extension Sighting {
    /// Whether the device accepts connections.
    @inlinable
    public var isConnectable: Bool { eventType.contains(.connectable) }

    /// Whether the advertising is anonymous, that is, without an address. Anonymous advertisers are distinguished by
    /// their data.
    @inlinable
    public var isAnonymous: Bool { details.isAnonymous }

    /// The decoded advertising data and scan response data. Each access decodes them again.
    public var advertisement: AdvertisementData {
        AdvertisementData(advertisingData: advertisingData.span, scanResponseData: scanResponseData.span)
    }

    /// The complete local name if the device advertises it, otherwise the shortened one. Invalid UTF-8 is replaced by
    /// U+FFFD.
    public var name: String? {
        guard let name = localName else { return nil }
        return name.repairedText
    }

    /// The octets of the local name, in place.
    var localName: Span<UInt8>? {
        @_lifetime(borrow self)
        get {
            let advertising = ADView(advertisingData.span), response = ADView(scanResponseData.span)
            if let name = advertising.first(.completeLocalName) { return name }
            if let name = response.first(.completeLocalName) { return name }
            if let name = advertising.first(.shortenedLocalName) { return name }
            return response.first(.shortenedLocalName)
        }
    }

    /// The services that the device lists.
    public var serviceUUIDs: [BluetoothUUID] { advertisement.serviceUUIDs }

    /// Returns whether the device lists a service.
    @inlinable
    public func contains(serviceUUID uuid: BluetoothUUID) -> Bool {
        ADView(advertisingData.span).contains(serviceUUID: uuid)
            || ADView(scanResponseData.span).contains(serviceUUID: uuid)
    }

    /// The transmit power in dBm from the data, or from the packet if the data does not contain it.
    @inlinable
    public var txPowerLevel: Int8? {
        ADView(advertisingData.span).txPowerLevel ?? ADView(scanResponseData.span).txPowerLevel ?? packetTxPowerLevel
    }
}

// MARK: - Bytes

extension [UInt8] {
    /// Stores `bytes` if they differ from the current ones, and returns what has changed.
    fileprivate mutating func update(_ bytes: Span<UInt8>) -> SightingTable.Novelty {
        guard !span.isEqual(to: bytes) else { return .repeated }
        let novelty: SightingTable.Novelty = isEmpty ? .completed : .changed
        bytes.withUnsafeBufferPointer { bytes in
            if count == bytes.count {
                withUnsafeMutableBufferPointer { _ = $0.update(fromContentsOf: bytes) }
            } else {
                removeAll(keepingCapacity: true)
                append(contentsOf: bytes)
            }
        }
        return novelty
    }
}

extension Span<UInt8> {
    /// Returns whether two spans contain equal bytes.
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { one in
            other.withUnsafeBytes { two in
                let width = MemoryLayout<UInt64>.size
                guard one.count >= width else { return one.elementsEqual(two) }
                // Word by word from the end. The first word overlaps the one behind it.
                var offset = one.count &- width
                var difference: UInt64 = 0
                while offset >= 0 {
                    difference |=
                        one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                        ^ two.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    offset &-= width
                }
                difference |=
                    one.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
                    ^ two.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
                return difference == 0
            }
        }
    }

    /// Returns whether the bytes begin with those of `prefix`.
    func hasPrefix(_ prefix: Span<UInt8>) -> Bool {
        count >= prefix.count && extracting(first: prefix.count).isEqual(to: prefix)
    }
}
