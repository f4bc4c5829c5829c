import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// The parameters of advertising (Core 5.4, Vol 4, Part E, 7.8.5 and 7.8.53).
public struct AdvertisingParameters: Hashable, Sendable {
    /// Whether peers may connect.
    public var isConnectable: Bool
    /// The range from which the controller chooses the advertising interval: 20 ms to 10.24 s, or to 10,485.759375 s
    /// with `extended`. Controllers before version 5.0 do not support less than 100 ms for non-connectable advertising,
    /// so the host raises the interval for them.
    public var interval: ClosedRange<Duration>
    /// The AD structures: at most 31 octets, or 1650 octets with `extended` if the controller supports that many.
    public var data: [UInt8]
    /// The AD structures of the scan response. The limits are those of `data`.
    public var scanResponse: [UInt8]
    /// The only peer that may connect, identified by any of its `PeerID` values; nil for all peers. With legacy PDUs
    /// such directed advertising carries no data (Core 5.4, Vol 3, Part C, 9.3.3). A peer that uses private addresses
    /// is found only if the controllers on both sides resolve them: see `peerResolvesAddresses`.
    public var peer: PeerID?
    /// Whether the peer's controller resolves private addresses, as its Central Address Resolution characteristic
    /// states (12.4). If it does not, advertising is directed to the peer's identity address.
    public var peerResolvesAddresses = true
    /// Whether advertising to one peer uses the high duty cycle: an advertising event every 3.75 ms or less, regardless
    /// of `interval`, so that a waiting peer connects immediately. It ends after 1.28 seconds (Core 5.4, Vol 6, Part B,
    /// 4.4.2.4.3). Legacy PDUs only.
    public var isHighDutyCycle = false
    /// The time after which advertising ends; nil for no limit. In limited discoverable mode, as set in the flags of
    /// `data`, the maximum is 180 seconds, which is also the meaning of nil (Core 5.4, Vol 3, Part C, 9.2.3).
    public var duration: Duration?
    /// The settings of extended advertising PDUs; nil for legacy PDUs, which every scanner receives. Extended PDUs need
    /// a controller with the extended commands. So do `periodic`, `maximumEvents`, `transmitPower` and `ownAddress`.
    public var extended: ExtendedAdvertising?
    /// The periodic advertising of the set; nil for none. Synchronized devices stay synchronized if only its data
    /// changes, the new data has at most 252 octets, and the set has no time limit. Otherwise periodic advertising
    /// restarts with the set, as it also does for a new private address.
    public var periodic: PeriodicAdvertising?
    /// The number of advertising events after which advertising ends, 1 to 255; nil for no limit. The count restarts
    /// after each pause.
    public var maximumEvents: UInt8?
    /// The maximum transmit power in dBm, -127 to 20; nil leaves the choice to the controller.
    public var transmitPower: Int8?
    /// The address of a non-connectable set: a static or a non-resolvable private address, or the controller's public
    /// address. Nil for the address of the host, which is private if the host has privacy.
    public var ownAddress: DeviceAddress?

    /// Creates parameters. By default advertising is connectable, with an interval of 30 to 60 ms, which scanners find
    /// quickly.
    public init(
        isConnectable: Bool = true, interval: ClosedRange<Duration> = .milliseconds(30)...(.milliseconds(60)),
        data: some Collection<UInt8>, scanResponse: some Collection<UInt8> = [UInt8](), peer: PeerID? = nil,
        duration: Duration? = nil, extended: ExtendedAdvertising? = nil
    ) {
        self.isConnectable = isConnectable
        self.interval = interval
        self.data = Array(data)
        self.scanResponse = Array(scanResponse)
        self.peer = peer
        self.duration = duration
        self.extended = extended
    }

    /// Whether the flags of `data` set limited discoverable mode.
    private var isLimited: Bool { ADView(data.span).flags?.contains(.limitedDiscoverable) ?? false }

    /// The time after which advertising ends; nil for no limit.
    package var limit: Duration? {
        if isHighDutyCycle { return min(duration ?? Self.highDutyCycleLimit, Self.highDutyCycleLimit) }
        return duration ?? (isLimited ? GAPTiming.limitedAdvertisingTimeout : nil)
    }

    /// The time for which a controller advertises at the high duty cycle (Vol 6, Part B, 4.4.2.4.3).
    static let highDutyCycleLimit = Duration.milliseconds(1280)

    /// Whether advertising responds to scan requests.
    var isScannable: Bool {
        extended == nil ? peer == nil && (isConnectable || !scanResponse.isEmpty) : !scanResponse.isEmpty
    }

    /// Whether the specification allows these values (Vol 4, Part E, 7.8.5, 7.8.7 and 7.8.53).
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

    /// Whether advertising needs the extended commands.
    var needsExtendedCommands: Bool {
        extended != nil || maximumEvents != nil || transmitPower != nil || ownAddress != nil
    }
}

/// The settings of extended advertising PDUs that legacy ones lack (Core 5.4, Vol 6, Part B, 2.3.1 and 4.4.2).
///
/// Extended PDUs are scannable if there is scan response data. Scannable ones are neither connectable nor carry
/// advertising data.
public struct ExtendedAdvertising: Hashable, Sendable {
    /// The primary advertising PHY: LE 1M or LE Coded.
    public var primaryPHY: AdvertisingPHY
    /// The secondary advertising PHY, which carries the data.
    public var secondaryPHY: AdvertisingPHY
    /// The Advertising SID, which distinguishes the sets of this device, 0 to 15; nil to derive it from the set's
    /// handle.
    public var sid: UInt8?
    /// Whether the PDUs carry no advertiser address. Peers can then neither connect nor request a scan response.
    public var isAnonymous: Bool
    /// Whether the PDUs carry the transmit power.
    public var includesTransmitPower: Bool

    /// Creates settings for LE 1M by default, with the address of the advertiser and without its transmit power.
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
