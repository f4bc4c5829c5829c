import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Identifies periodic advertising that this host receives, or has a request for, for the lifetime of the host.
public struct PeriodicSyncIdentifier: Hashable, Sendable {
    let number: UInt32
}

/// An advertising set with periodic advertising.
public struct PeriodicAdvertiser: Hashable, Sendable {
    /// The advertiser, identified by any of its `PeerID` values.
    public var peer: PeerID
    /// The Advertising SID of the set, 0 to 15.
    public var sid: UInt8

    /// Identifies the set with this Advertising SID, 0 to 15, of an advertiser.
    public init(peer: PeerID, sid: UInt8) {
        self.peer = peer
        self.sid = sid
    }
}

/// The parameters for receiving periodic advertising (Core 5.4, Vol 4, Part E, 7.8.67).
public struct PeriodicSyncParameters: Hashable, Sendable {
    /// The number of consecutive events that the controller may skip, 0 to 499.
    public var skip: Int
    /// The time without a packet after which the synchronization is lost, 100 ms to 163.84 s.
    public var timeout: Duration
    /// Whether reports are enabled immediately, instead of by `Host.setReporting`.
    public var isReporting: Bool
    /// Whether data that has already been reported is left out, if the controller and the advertiser support that.
    public var filtersDuplicates: Bool
    /// The primary PHYs on which to scan for the advertiser.
    public var phys: ScanPHYs

    /// Creates parameters. By default, no event is skipped, and every report is received; synchronization is lost after
    /// 10 s without a packet.
    public init(
        skip: Int = 0, timeout: Duration = .seconds(10), isReporting: Bool = true, filtersDuplicates: Bool = false,
        phys: ScanPHYs = .le1M
    ) {
        self.skip = skip
        self.timeout = timeout
        self.isReporting = isReporting
        self.filtersDuplicates = filtersDuplicates
        self.phys = phys
    }

    var isValid: Bool {
        (0...499).contains(skip) && (.milliseconds(100)...Duration.milliseconds(163_840)).contains(timeout)
            && phys.isValid
    }

    /// The timeout in units of 10 ms. It may be longer than that of a connection.
    var timeoutUnits: SupervisionTimeout {
        SupervisionTimeout(rawValue: UInt16(clamping: timeout.nanoseconds / 10_000_000))
    }

    var options: PeriodicSyncOptions {
        var options: PeriodicSyncOptions = isReporting ? [] : .disablesReports
        if filtersDuplicates { options.insert(.filtersDuplicates) }
        return options
    }

    var transferMode: PeriodicSyncTransferMode {
        isReporting ? filtersDuplicates ? .filterDuplicates : .synchronize : .withoutReports
    }
}

/// The properties of periodic advertising that is being received.
public struct PeriodicSyncInformation: Hashable, Sendable {
    /// The advertiser.
    public var peer: PeerID
    /// The advertiser's address.
    public var address: DeviceAddress
    /// The Advertising SID of the set, 0 to 15.
    public var sid: UInt8
    /// The PHY of the periodic advertising.
    public var phy: LEPHY
    /// The time from one event to the next.
    public var interval: Duration
    /// The subevents; nil for periodic advertising without responses.
    public var subevents: PeriodicSubevents?

    /// Creates the properties of periodic advertising. By default, it has no subevents.
    public init(
        peer: PeerID, address: DeviceAddress, sid: UInt8, phy: LEPHY, interval: Duration,
        subevents: PeriodicSubevents? = nil
    ) {
        self.peer = peer
        self.address = address
        self.sid = sid
        self.phy = phy
        self.interval = interval
        self.subevents = subevents
    }
}

/// The reason why periodic advertising is no longer received.
@nonexhaustive
public enum PeriodicSyncEnd: Equatable, Sendable {
    /// Nothing was received for the synchronization timeout.
    case lost
    /// The controller was reset.
    case controllerReset
    /// The controller is gone.
    case adapterRemoved
}

extension PeriodicSyncEnd: CustomStringConvertible {
    /// What happened and what to do, such as "the controller was reset; synchronize again".
    public var description: String {
        switch self {
        case .lost: "nothing was received for too long; move closer to the advertiser and synchronize again"
        case .controllerReset: "the controller was reset; synchronize again"
        case .adapterRemoved: "the adapter is gone; plug it in again"
        }
    }
}

/// The data of one event of periodic advertising, or of one of its subevents. Also used for a response to a subevent.
public struct PeriodicReport: Equatable, Sendable {
    /// The signal strength in dBm; 127 if it is not available.
    public var rssi: Int8
    /// The transmit power in dBm; 127 if the packet does not contain it.
    public var txPowerLevel: Int8
    /// The event counter; nil if the controller does not report it.
    public var eventCounter: UInt16?
    /// The subevent; nil for periodic advertising without responses.
    public var subevent: UInt8?
    /// Whether the data is incomplete.
    public var isTruncated: Bool
    /// The AD structures.
    public var data: Payload
}
