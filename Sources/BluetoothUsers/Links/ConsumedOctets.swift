import BluetoothHost
import BluetoothL2CAP

/// The share of a channel's window that its user has processed but not reported yet.
///
/// Reporting each SDU would take a turn of the adapter for each. Their shares are reported once they add up to a
/// quarter of the window. The host gives credits when half of it is left, so a peer whose SDUs are processed at once
/// does not have to wait for a report.
public struct ConsumedOctets: Sendable {
    private let parameters: ChannelParameters
    /// The sum of shares at which a report is due.
    private var mark: Int
    private var share = 0

    /// Creates the record of a channel that has just opened.
    public init(_ information: ChannelInformation) {
        parameters = information.local
        mark = parameters.reportMark
    }

    /// Adds octets that were processed.
    ///
    /// - Parameter share: the octets' part of the share in `UserEvent.Channel.received`.
    /// - Returns: the sum to report with `ChannelCall.consume`; nil if it is not due.
    public mutating func add(share: Int) -> Int? {
        self.share += share
        return takeDue()
    }

    /// Adapts to the maximum K-frame payload that a reconfiguration will set, which changes the size of the window.
    ///
    /// - Returns: the sum to report; nil if it is not due.
    public mutating func reconfigure(mps: UInt16) -> Int? {
        var changed = parameters
        changed.mps = mps
        // The reconfiguration may fail, so the mark only falls.
        mark = min(mark, changed.reportMark)
        return takeDue()
    }

    private mutating func takeDue() -> Int? {
        guard share >= mark else { return nil }
        defer { share = 0 }
        return share
    }
}
