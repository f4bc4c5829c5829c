import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Names periodic advertising that this host receives, or is to receive, for as long as the host lives.
public struct PeriodicSyncIdentifier: Hashable, Sendable {
    let number: UInt32
}

/// A set of a device that advertises periodically.
public struct PeriodicAdvertiser: Hashable, Sendable {
    /// The device, under any of its names.
    public var peer: PeerID
    /// Which of its sets, 0 to 15.
    public var sid: UInt8

    public init(peer: PeerID, sid: UInt8) {
        self.peer = peer
        self.sid = sid
    }
}

/// How to receive periodic advertising (Core 5.4, Vol 4, Part E, 7.8.67).
public struct PeriodicSyncParameters: Hashable, Sendable {
    /// How many events in a row the controller need not receive, 0 to 499.
    public var skip: Int
    /// After how long without a packet it counts as lost, 100 ms to 163.84 s.
    public var timeout: Duration
    /// Whether there are to be reports at once, and not only from `Host.setReporting` on.
    public var isReporting: Bool
    /// Whether data that was reported before is left out, as far as the controller and the advertiser tell it.
    public var filtersDuplicates: Bool
    /// The primary PHYs on which the advertiser is looked for.
    public var phys: ScanPHYs

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

    /// The time-out in units of 10 ms, which may be longer than that of a connection.
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

/// What is known of periodic advertising that is received.
public struct PeriodicSyncInformation: Hashable, Sendable {
    /// The advertiser.
    public var peer: PeerID
    /// The address of the advertiser.
    public var address: DeviceAddress
    /// Which of its sets it is, 0 to 15.
    public var sid: UInt8
    /// The PHY that it is sent on.
    public var phy: LEPHY
    /// From one event to the next.
    public var interval: Duration
    /// Its subevents; nil without responses.
    public var subevents: PeriodicSubevents?

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

/// Why periodic advertising is no longer received.
public enum PeriodicSyncEnd: Equatable, Sendable {
    /// Nothing was received for too long.
    case lost
    /// The controller was reset.
    case controllerReset
    /// The controller is gone.
    case adapterRemoved
}

extension PeriodicSyncEnd: CustomStringConvertible {
    public var description: String {
        switch self {
        case .lost: "nothing was received for too long; move closer to the advertiser and synchronize again"
        case .controllerReset: "the controller was reset; synchronize again"
        case .adapterRemoved: "the adapter is gone; plug it in again"
        }
    }
}

/// What was received in one event of periodic advertising, or in one of its subevents.
public struct PeriodicReport: Equatable, Sendable {
    /// In dBm; 127 where it was not measured.
    public var rssi: Int8
    /// The transmit power in dBm; 127 where the packet does not say it.
    public var txPowerLevel: Int8
    /// The event's counter; nil where the controller does not say it.
    public var eventCounter: UInt16?
    /// The subevent; nil without responses.
    public var subevent: UInt8?
    /// Whether the end of the data is missing.
    public var isTruncated: Bool
    /// The AD structures.
    public var data: Payload
}

/// Periodic advertising that is received, with what has come of the data of an event.
struct PeriodicSync: Hashable, Sendable {
    let identifier: PeriodicSyncIdentifier
    let handle: SyncHandle
    let information: PeriodicSyncInformation
    /// The data of an event of which more is to follow, and to which subevent it belongs.
    private(set) var partial: [UInt8] = []
    private var partialSubevent: LEPeriodicAdvertisingReport.Subevent?
    /// Whether the rest of an event that is too long is dropped.
    private var isOverflowing = false

    init(identifier: PeriodicSyncIdentifier, handle: SyncHandle, information: PeriodicSyncInformation) {
        self.identifier = identifier
        self.handle = handle
        self.information = information
    }

    /// The most data of an event (Core 5.4, Vol 6, Part B, 4.4.2.12).
    static let maximumLength = 1650

    /// What a fragment leads to.
    enum Outcome {
        /// More is to follow.
        case incomplete
        /// The data is all in this report.
        case whole
        /// The data is in `partial`, up to `forget()`.
        case joined(isTruncated: Bool)
    }

    /// Takes a fragment.
    mutating func receive(_ report: borrowing LEPeriodicAdvertisingReport) -> Outcome {
        if report.subevent != partialSubevent {
            // The end of what came before was lost; what is new matters more.
            forget()
        }
        let isFirst = partial.isEmpty && !isOverflowing
        if isFirst, report.dataStatus == 0 { return .whole }
        if partial.count + report.data.count > Self.maximumLength {
            isOverflowing = true
        } else if !isOverflowing {
            for index in 0..<report.data.count { partial.append(report.data[index]) }
        }
        guard report.dataStatus == 1 else { return .joined(isTruncated: report.dataStatus != 0 || isOverflowing) }
        partialSubevent = report.subevent
        return .incomplete
    }

    /// Forgets what has come of an event.
    mutating func forget() {
        partial.removeAll(keepingCapacity: true)
        partialSubevent = nil
        isOverflowing = false
    }
}
