import BluetoothBase

/// Properties for AD types that few devices advertise. They read and write the structures in `other`.
extension AdvertisementData {
    /// The preferred range of connection intervals, in units of 1.25 ms. A nil limit means no specific minimum or
    /// maximum (Core Supplement, Part A, 1.9).
    public struct ConnectionIntervalRange: Equatable, Sendable {
        /// The smallest preferred connection interval, in units of 1.25 ms; nil if the device states no minimum.
        public var minimum: UInt16?
        /// The largest preferred connection interval, in units of 1.25 ms; nil if the device states no maximum.
        public var maximum: UInt16?

        /// Creates a range from limits in units of 1.25 ms. Nil means no specific limit.
        public init(minimum: UInt16?, maximum: UInt16?) {
            self.minimum = minimum
            self.maximum = maximum
        }
    }

    /// The device's preferred range of connection intervals (Core Supplement, Part A, 1.9).
    public var connectionIntervalRange: ConnectionIntervalRange? {
        get {
            guard let octets = first(.peripheralConnectionIntervalRange), octets.count == 4 else { return nil }
            let values = [octets.littleEndian(0..<2), octets.littleEndian(2..<4)].map { UInt16($0) }
            return ConnectionIntervalRange(
                minimum: values[0] == 0xFFFF ? nil : values[0], maximum: values[1] == 0xFFFF ? nil : values[1])
        }
        set {
            let limits = newValue.map { [$0.minimum, $0.maximum].map { $0 ?? 0xFFFF } }
            replace(.peripheralConnectionIntervalRange, limits.map { $0.flatMap { octets(of: UInt64($0), count: 2) } })
        }
    }

    /// The public and random addresses of the devices that the advertising is directed to (Core Supplement, Part A,
    /// 1.13 and 1.14).
    public var targetAddresses: [DeviceAddress] {
        get {
            [(ADType.publicTargetAddress, DeviceAddress.Kind.public), (.randomTargetAddress, .random)]
                .flatMap { type, kind in
                    let octets = first(type) ?? []
                    return stride(from: 0, through: octets.count - 6, by: 6).map {
                        DeviceAddress(octets.littleEndian($0..<$0 + 6), kind: kind)
                    }
                }
        }
        set {
            for (type, isRandom) in [(ADType.publicTargetAddress, false), (.randomTargetAddress, true)] {
                let addresses = newValue.filter { ($0.kind == .random || $0.kind == .randomIdentity) == isRandom }
                let list = addresses.flatMap { octets(of: $0.value, count: 6) }
                replace(type, list.isEmpty ? nil : list)
            }
        }
    }

    /// The advertising interval in steps of 0.625 ms, up to 10,485 s. Values that do not fit in two octets use the long
    /// form (Core Supplement, Part A, 1.15).
    public var advertisingInterval: Duration? {
        get {
            let octets = first(.advertisingInterval) ?? first(.advertisingIntervalLong)
            guard let octets, (2...4).contains(octets.count) else { return nil }
            return .microseconds(625 * Int64(octets.littleEndian(0..<octets.count)))
        }
        set {
            let units = newValue.map { min(UInt64(max(0, $0.nanoseconds)) / 625_000, 0xFF_FFFF) }
            let isLong = (units ?? 0) > 0xFFFF
            replace(.advertisingInterval, isLong ? nil : units.map { octets(of: $0, count: 2) })
            replace(.advertisingIntervalLong, isLong ? units.map { octets(of: $0, count: 3) } : nil)
        }
    }

    /// A Uniform Resource Identifier. The schemes `http:` and `https:` are encoded in one octet on the air; other
    /// schemes are sent in full (Core Supplement, Part A, 1.18; Assigned Numbers, 2.7).
    public var uri: String? {
        get {
            guard let octets = first(.uri), let code = octets.first else { return nil }
            let text = String(decoding: octets.dropFirst(), as: UTF8.self)
            return (Self.schemes[code] ?? "") + text
        }
        set {
            guard let newValue else { return replace(.uri, nil) }
            let scheme = Self.schemes.first { newValue.hasPrefix($0.value) }
            let rest = newValue.dropFirst(scheme?.value.count ?? 0)
            // The code 1 means that the scheme follows in full.
            replace(.uri, [scheme?.key ?? 1] + Array(rest.utf8))
        }
    }

    /// The features that the device's Link Layer supports. Bit 0 is the lowest bit of the first octet; trailing zero
    /// octets are omitted on the air (Core Supplement, Part A, 1.19).
    public var leSupportedFeatures: UInt64? {
        get { first(.leSupportedFeatures).map { $0.littleEndian(0..<min(8, $0.count)) } }
        set {
            replace(
                .leSupportedFeatures,
                newValue.map { octets(of: $0, count: max(1, (71 - $0.leadingZeroBitCount) / 8)) })
        }
    }

    private static let schemes: [UInt8: String] = [0x16: "http:", 0x17: "https:"]

    /// Returns the data of the first structure of a type.
    private func first(_ type: ADType) -> [UInt8]? { other.first { $0.type == type }?.data }

    /// Replaces all structures of a type with one, or removes them if `data` is nil.
    private mutating func replace(_ type: ADType, _ data: [UInt8]?) {
        other.removeAll { $0.type == type }
        if let data { other.append(Other(type: type, data: data)) }
    }
}

/// Returns the octets of a number, least significant first.
private func octets(of value: UInt64, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
}

extension [UInt8] {
    /// Returns up to eight octets as a number, least significant octet first.
    fileprivate func littleEndian(_ range: Range<Int>) -> UInt64 {
        range.reversed().reduce(0) { $0 << 8 | UInt64(self[$1]) }
    }
}
