import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// How to advertise (Core 5.4, Vol 4, Part E, 7.8.5 and 7.8.53).
public struct AdvertisingParameters: Hashable, Sendable {
    /// Whether peers may connect.
    public var isConnectable: Bool
    /// The range from which the controller takes its advertising interval, 20 ms to 10.24 s, with `extended` to 10,485.759375 s.
    /// Where peers cannot connect, it begins at 100 ms on controllers before version 5.0, which know no shorter one.
    public var interval: ClosedRange<Duration>
    /// At most 31 octets of AD structures; with `extended` 1650, as far as the controller takes them.
    public var data: [UInt8]
    /// As much again for those who ask.
    public var scanResponse: [UInt8]
    /// The one peer that may connect, by any of its names; nil for all. With legacy PDUs such advertising carries no data (Core
    /// 5.4, Vol 3, Part C, 9.3.3). A peer that uses private addresses is found only if the controller resolves them, on both
    /// sides: see `peerResolvesAddresses`.
    public var peer: PeerID?
    /// Whether the peer's controller resolves private addresses, as its Central Address Resolution characteristic says (12.4). One
    /// that does not is advertised to under its identity address.
    public var peerResolvesAddresses = true
    /// Whether what is for one peer is sent at the high duty cycle: every 3.75 ms or more often, whatever `interval` says, so that
    /// a peer that is waiting connects at once. It ends after 1.28 seconds (Core 5.4, Vol 6, Part B, 4.4.2.4.3). Legacy PDUs only.
    public var isHighDutyCycle = false
    /// After how long it ends; nil for not by itself. In limited discoverable mode, which the flags of `data` say, at most
    /// 180 seconds, which nil then means (Core 5.4, Vol 3, Part C, 9.2.3).
    public var duration: Duration?
    /// Extended advertising PDUs; nil for legacy ones, which every scanner receives. Needs a controller with the extended commands,
    /// as do the properties below.
    public var extended: ExtendedAdvertising?
    /// Periodic advertising of the set; nil for none. Where it differs from that before in nothing but data of at most 252 octets, who
    /// is synchronized to it stays so. It begins anew where the set does, as with a new private address.
    public var periodic: PeriodicAdvertising?
    /// After how many advertising events it ends, 1 to 255; nil for not by itself. They are counted anew after each pause.
    public var maximumEvents: UInt8?
    /// The highest power to transmit with, in dBm, -127 to 20; nil leaves that to the controller.
    public var transmitPower: Int8?
    /// The address of a set that nobody can connect to; nil for that of the host, which is private where the host has privacy. A
    /// static or a non-resolvable private one, or the controller's public address.
    public var ownAddress: DeviceAddress?

    /// By default connectable, every 30 to 60 ms, which is found quickly.
    public init(
        isConnectable: Bool = true, interval: ClosedRange<Duration> = .milliseconds(30)...(.milliseconds(60)),
        data: [UInt8], scanResponse: [UInt8] = [], peer: PeerID? = nil, duration: Duration? = nil,
        extended: ExtendedAdvertising? = nil
    ) {
        self.isConnectable = isConnectable
        self.interval = interval
        self.data = data
        self.scanResponse = scanResponse
        self.peer = peer
        self.duration = duration
        self.extended = extended
    }

    /// Whether it is in limited discoverable mode.
    private var isLimited: Bool { ADView(data.span).flags?.contains(.limitedDiscoverable) ?? false }

    /// After how long it ends.
    package var limit: Duration? {
        if isHighDutyCycle { return min(duration ?? Self.highDutyCycleLimit, Self.highDutyCycleLimit) }
        return duration ?? (isLimited ? GAPTiming.limitedAdvertisingTimeout : nil)
    }

    /// How long a controller advertises at the high duty cycle (Vol 6, Part B, 4.4.2.4.3).
    static let highDutyCycleLimit = Duration.milliseconds(1280)

    /// Whether it answers scan requests.
    var isScannable: Bool {
        extended == nil ? peer == nil && (isConnectable || !scanResponse.isEmpty) : !scanResponse.isEmpty
    }

    /// Vol 4, Part E, 7.8.5, 7.8.7 and 7.8.53.
    package var isValid: Bool {
        let longest = extended == nil ? 31 : AdvertisingReassembly.maximumLength
        return interval.lowerBound >= .milliseconds(20)
            && interval.upperBound <= (extended == nil ? .milliseconds(10240) : LESlots(rawValue: 0xFF_FFFF).duration)
            && data.count <= longest && scanResponse.count <= longest
            && (limit.map { $0 > .zero && (!isLimited || $0 <= GAPTiming.limitedAdvertisingTimeout) } ?? true)
            && !(isHighDutyCycle && (peer == nil || !isConnectable || extended != nil || isLimited))
            && (maximumEvents ?? 1) > 0 && (transmitPower ?? 0) >= -127 && (transmitPower ?? 0) <= 20
            && (ownAddress == nil || !isConnectable && ownAddress?.randomKind != .resolvablePrivate)
            && (extended?.isValid(self) ?? (peer == nil || isConnectable)) && isPeriodicValid
    }

    /// Whether it takes the extended commands.
    var needsExtendedCommands: Bool {
        extended != nil || maximumEvents != nil || transmitPower != nil || ownAddress != nil
    }
}

/// What distinguishes extended advertising PDUs from legacy ones (Core 5.4, Vol 6, Part B, 2.3.1 and 4.4.2).
///
/// They are scannable where there is scan response data, and then neither connectable nor carry advertising data.
public struct ExtendedAdvertising: Hashable, Sendable {
    /// The PHY on which they are found: LE 1M or LE Coded.
    public var primaryPHY: AdvertisingPHY
    /// The PHY of their data.
    public var secondaryPHY: AdvertisingPHY
    /// Which of this device's sets it is, 0 to 15; nil for the number under which the host has it.
    public var sid: UInt8?
    /// Whether they give no address. Nobody can connect, or ask for a scan response.
    public var isAnonymous: Bool
    /// Whether they say how strongly they are sent.
    public var includesTransmitPower: Bool

    public init(
        primaryPHY: AdvertisingPHY = .le1M, secondaryPHY: AdvertisingPHY = .le1M, sid: UInt8? = nil,
        isAnonymous: Bool = false, includesTransmitPower: Bool = false
    ) {
        self.primaryPHY = primaryPHY
        self.secondaryPHY = secondaryPHY
        self.sid = sid
        self.isAnonymous = isAnonymous
        self.includesTransmitPower = includesTransmitPower
    }

    fileprivate func isValid(_ parameters: AdvertisingParameters) -> Bool {
        primaryPHY != .le2M && (sid ?? 0) <= 0x0F
            && !(parameters.isScannable && (parameters.isConnectable || !parameters.data.isEmpty))
            && !(isAnonymous && (parameters.isConnectable || parameters.isScannable))
    }
}
