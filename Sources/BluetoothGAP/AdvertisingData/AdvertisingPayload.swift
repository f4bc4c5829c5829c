import BluetoothBase

/// Encoded advertising data and scan response data (Core 5.4, Vol 3, Part C, 11).
///
/// Structures are placed in this order:
/// 1. Flags, at the start of the advertising data, which is the only place where they are allowed.
/// 2. The service UUIDs, one list per UUID length. A list is placed in the advertising data if it fits, otherwise in
///    the scan response. A list that fits in neither is split, and both parts are marked as incomplete.
/// 3. Solicited services, transmit power, appearance, manufacturer data, service data and other structures. Each is
///    placed in the advertising data if it fits, otherwise in the scan response. Only lists of solicited services may
///    be split.
/// 4. The local name, in the remaining space: complete in the advertising data, otherwise complete in the scan
///    response, otherwise shortened at a character boundary in whichever part has more space.
///
/// All other structures therefore take precedence over the name, and passive scanners receive the fields that scan
/// filters check.
public struct AdvertisingPayload: Equatable, Sendable {
    /// The maximum lengths of the data, in octets.
    public struct Limits: Equatable, Sendable {
        /// The maximum length of the advertising data.
        public var advertisingData: Int
        /// The maximum length of the scan response data; 0 if the advertising is not scannable.
        public var scanResponseData: Int

        /// Creates limits in octets. Pass 0 as `scanResponseData` for advertising that is not scannable.
        public init(advertisingData: Int, scanResponseData: Int) {
            self.advertisingData = advertisingData
            self.scanResponseData = scanResponseData
        }

        /// The limits of scannable legacy advertising: 31 octets each (Vol 6, Part B, 2.3.1).
        public static let legacy = Limits(advertisingData: 31, scanResponseData: 31)

        /// The limits that the specification sets for extended advertising. Most controllers support less (Vol 6, Part
        /// B, 2.3.4.9).
        public static let extended = Limits(
            advertisingData: AdvertisingReassembly.maximumLength, scanResponseData: 0)
    }

    /// The encoded advertising data, without padding.
    public let advertisingData: [UInt8]
    /// The encoded scan response data, without padding. Empty if everything fits in the advertising data.
    public let scanResponseData: [UInt8]

    /// Encodes `advertisement`. Throws if a structure other than the name does not fit, or if not a single character of
    /// the name fits.
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

/// Returns the octets that `body` writes.
private func octets(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    body(&writer)
    return writer.bytes
}

extension BluetoothUUID {
    /// The length of the UUID in advertising data, in octets. Unlike ATT, advertising data allows 32-bit UUIDs.
    var advertisedLength: Int {
        guard let shortValue else { return 16 }
        return shortValue > UInt16.max ? 4 : 2
    }
}

extension ByteWriter {
    /// Appends a UUID in its shortest form.
    mutating func appendAdvertised(_ uuid: BluetoothUUID) {
        switch uuid.shortValue {
        case .some(let value) where value > UInt16.max: append(value)
        case .some(let value): append(UInt16(truncatingIfNeeded: value))
        case nil: appendFull(uuid)
        }
    }
}
