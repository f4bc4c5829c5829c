import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// An established synchronization, with the data of a partly received event.
struct EstablishedSync: Hashable, Sendable {
    let identifier: PeriodicSyncIdentifier
    let handle: SyncHandle
    let information: PeriodicSyncInformation
    /// The data of an event that is not complete yet. `partialSubevent` is the subevent that it belongs to.
    private(set) var partial: [UInt8] = []
    private var partialSubevent: LEPeriodicAdvertisingReport.Subevent?
    /// Whether the event is too long, so that the rest of it is dropped.
    private var isOverflowing = false

    init(identifier: PeriodicSyncIdentifier, handle: SyncHandle, information: PeriodicSyncInformation) {
        self.identifier = identifier
        self.handle = handle
        self.information = information
    }

    /// The maximum length of an event's data (Core 5.4, Vol 6, Part B, 4.4.2.12).
    static let maximumLength = 1650

    /// The result of receiving a fragment.
    enum Outcome {
        /// More fragments will follow.
        case incomplete
        /// This report contains all of the data.
        case whole
        /// The data is in `partial`, until `forget()` is called.
        case joined(isTruncated: Bool)
    }

    /// Handles a fragment.
    mutating func receive(_ report: borrowing LEPeriodicAdvertisingReport) -> Outcome {
        if report.subevent != partialSubevent {
            // The rest of the earlier data was lost. The new data takes precedence.
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

    /// Drops the data of a partly received event.
    mutating func forget() {
        partial.removeAll(keepingCapacity: true)
        partialSubevent = nil
        isOverflowing = false
    }
}
