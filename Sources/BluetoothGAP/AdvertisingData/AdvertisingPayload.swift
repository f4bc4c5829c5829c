import BluetoothBase

/// The bytes that advertise something: advertising data and scan response data (Core 5.4, Vol 3, Part C, 11).
///
/// The layout, in the order in which structures are placed:
/// 1. Flags, at the start of the advertising data, the only place where they are allowed.
/// 2. The service UUIDs, a list for each length. A list goes into the advertising data, otherwise into the scan
///    response; one that fits into neither is split, and both parts are then marked as incomplete.
/// 3. Solicited services, transmit power, appearance, manufacturer data, service data and everything else, each
///    undivided, into the advertising data if it fits and otherwise into the scan response.
/// 4. The local name, into the remaining space: in full in the advertising data, otherwise in full in the scan
///    response, otherwise shortened in whichever has more space, between characters.
///
/// So everything else takes precedence over the name, and passive scanners see what filters look for.
public struct AdvertisingPayload: Equatable, Sendable {
    /// How many octets of data there may be.
    public struct Limits: Equatable, Sendable {
        public var advertisingData: Int
        /// 0 if the advertising is not scannable.
        public var scanResponseData: Int

        public init(advertisingData: Int, scanResponseData: Int) {
            self.advertisingData = advertisingData
            self.scanResponseData = scanResponseData
        }

        /// Legacy advertising that is scannable: 31 octets and 31 (Vol 6, Part B, 2.3.1).
        public static let legacy = Limits(advertisingData: 31, scanResponseData: 31)

        /// Extended advertising, as long as it may be at all; most controllers take less (Vol 6, Part B, 2.3.4.9).
        public static let extended = Limits(
            advertisingData: AdvertisingReassembly.maximumLength, scanResponseData: 0)
    }

    public let advertisingData: [UInt8]
    public let scanResponseData: [UInt8]

    /// Lays out `advertisement`. Throws if a structure other than the name does not fit, or if not a single character
    /// of the name does.
    public init(
        _ advertisement: AdvertisementData, limits: Limits = .legacy
    ) throws(AdvertisingPayloadError) {
        var packer = Packer(limits: limits)
        if let flags = advertisement.flags {
            try packer.place(.flags, [flags.rawValue], onlyInAdvertisingData: true)
        }
        for (complete, incomplete, length) in [
            (ADType.completeServiceUUIDs16, ADType.incompleteServiceUUIDs16, 2),
            (.completeServiceUUIDs32, .incompleteServiceUUIDs32, 4),
            (.completeServiceUUIDs128, .incompleteServiceUUIDs128, 16),
        ] {
            let uuids = advertisement.serviceUUIDs.filter { $0.advertisedLength == length }
            let type = advertisement.isServiceListIncomplete ? incomplete : complete
            try packer.place(list: uuids, length: length, type: type, splitType: incomplete)
        }
        for (type, length) in [
            (ADType.solicitedServiceUUIDs16, 2), (.solicitedServiceUUIDs32, 4), (.solicitedServiceUUIDs128, 16),
        ] {
            let uuids = advertisement.solicitedServiceUUIDs.filter { $0.advertisedLength == length }
            try packer.place(list: uuids, length: length, type: type, splitType: type)
        }
        if let power = advertisement.txPowerLevel { try packer.place(.txPowerLevel, [UInt8(bitPattern: power)]) }
        if let appearance = advertisement.appearance {
            try packer.place(.appearance, octets { $0.append(appearance.rawValue) })
        }
        for element in advertisement.manufacturerData {
            try packer.place(
                .manufacturerSpecificData,
                octets {
                    $0.append(element.companyID)
                    $0.append(element.data)
                })
        }
        for element in advertisement.serviceData {
            let type: ADType =
                switch element.uuid.advertisedLength {
                case 2: .serviceData16
                case 4: .serviceData32
                default: .serviceData128
                }
            try packer.place(
                type,
                octets {
                    $0.appendAdvertised(element.uuid)
                    $0.append(element.data)
                })
        }
        for element in advertisement.other { try packer.place(element.type, element.data) }
        switch advertisement.localName {
        case .complete(let name): try packer.place(name: name, type: .completeLocalName)
        case .shortened(let name): try packer.place(name: name, type: .shortenedLocalName)
        case nil: break
        }
        advertisingData = packer.advertisingData.bytes
        scanResponseData = packer.scanResponseData.bytes
    }
}

/// What `body` writes.
private func octets(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    body(&writer)
    return writer.bytes
}

extension BluetoothUUID {
    /// How many octets the UUID takes in advertising data, which allows 32-bit UUIDs, unlike ATT.
    var advertisedLength: Int {
        guard let shortValue else { return 16 }
        return shortValue > UInt16.max ? 4 : 2
    }
}

extension ByteWriter {
    /// Appends a UUID in the shortest form it has.
    mutating func appendAdvertised(_ uuid: BluetoothUUID) {
        switch uuid.shortValue {
        case .some(let value) where value > UInt16.max: append(value)
        case .some(let value): append(UInt16(truncatingIfNeeded: value))
        case nil: appendFull(uuid)
        }
    }
}
