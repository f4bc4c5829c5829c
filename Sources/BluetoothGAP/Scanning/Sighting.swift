import BluetoothBase

/// A device as a scan has seen it: its advertising and its scan response.
///
/// The bytes are kept as received and decoded on demand, so a report with nothing new costs only a comparison.
public struct Sighting: Equatable, Sendable {
    /// Who it is: the same while a bonded device changes its private address.
    public let peer: PeerID
    /// The address that the last packet came from. Where `isAnonymous` is true there is none, and this is no device's.
    public internal(set) var address: DeviceAddress
    /// How the device advertises. As long as only its scan response has been seen, it is only known to be scannable.
    public internal(set) var eventType: AdvertisingEventType
    /// Which PHYs and which advertising set the last packet of advertising data came on, and what else it said.
    public internal(set) var details: AdvertisingDetails
    /// The received signal strength of the last packet in dBm, nil if it was not measured.
    public internal(set) var rssi: Int8?
    /// When the first packet was received.
    public let firstSeen: Instant
    /// When the last packet was received.
    public internal(set) var lastSeen: Instant
    /// The advertising data as it was last received.
    public internal(set) var advertisingData: [UInt8] = []
    /// The scan response data as it was last received; empty if the device was not asked or did not answer.
    public internal(set) var scanResponseData: [UInt8] = []
    /// The transmit power in dBm that a packet itself contained, as only an extended one can.
    @usableFromInline package internal(set) var packetTxPowerLevel: Int8?

    /// Anything beyond is dropped.
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

    /// Adds a packet and returns whether its data has changed. Allocates nothing unless the data is longer than ever
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

// MARK: - What the data says

extension Sighting {
    /// Whether the device accepts connections.
    @inlinable
    public var isConnectable: Bool { eventType.contains(.connectable) }

    /// Whether the advertiser gives no address. Anonymous advertisers are told apart by what they advertise.
    @inlinable
    public var isAnonymous: Bool { details.isAnonymous }

    /// Everything the device advertises, decoded at every call.
    public var advertisement: AdvertisementData {
        AdvertisementData(advertisingData: advertisingData.span, scanResponseData: scanResponseData.span)
    }

    /// The local name, the complete one if there is one. Invalid UTF-8 is replaced by U+FFFD.
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

    /// The services the device lists.
    public var serviceUUIDs: [BluetoothUUID] { advertisement.serviceUUIDs }

    /// Whether the device lists a service.
    @inlinable
    public func contains(serviceUUID uuid: BluetoothUUID) -> Bool {
        ADView(advertisingData.span).contains(serviceUUID: uuid)
            || ADView(scanResponseData.span).contains(serviceUUID: uuid)
    }

    /// The transmit power in dBm, from the data or otherwise from the packet.
    @inlinable
    public var txPowerLevel: Int8? {
        ADView(advertisingData.span).txPowerLevel ?? ADView(scanResponseData.span).txPowerLevel ?? packetTxPowerLevel
    }
}

// MARK: - Bytes

extension [UInt8] {
    /// Stores `bytes` if they differ from the current ones.
    fileprivate mutating func update(_ bytes: Span<UInt8>) -> SightingTable.Novelty {
        guard !span.isEqual(to: bytes) else { return .repeated }
        let novelty: SightingTable.Novelty = isEmpty ? .completed : .changed
        removeAll(keepingCapacity: true)
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
        return novelty
    }
}

extension Span<UInt8> {
    /// Whether two spans contain equal bytes.
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for index in indices { difference |= self[index] ^ other[index] }
        return difference == 0
    }

    /// Whether the bytes begin with those of `prefix`.
    func hasPrefix(_ prefix: Span<UInt8>) -> Bool {
        count >= prefix.count && extracting(first: prefix.count).isEqual(to: prefix)
    }
}
