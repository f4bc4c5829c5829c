import BluetoothBase
import BluetoothHCI

/// A connection being created: the controller listens for a certain advertiser (Core 5.4, Vol 6, Part B, 4.4.4).
struct InitiatingState: Sendable {
    /// The scan settings for one PHY, and the parameters of a connection created there.
    struct PHY: Sendable {
        var timing: ScanTiming
        var parameters: ConnectionTiming
    }

    var le1M: PHY?
    var le2M: PHY?
    var leCoded: PHY?
    /// Whether it also accepts extended advertising.
    var isExtended = false
    /// The device to connect to; nil for the first device of the filter accept list that is received.
    var peerAddress: DeviceAddress?
    var ownAddressType: OwnAddressType
    var start: Instant
    /// The subevent of the controller's periodic advertising in which it sends the request, instead of answering
    /// advertising.
    var subevent: (slot: Int, number: UInt8)?

    subscript(phy: LEPHY) -> PHY? {
        switch phy {
        case .le1M: le1M
        case .le2M: le2M
        case .leCoded: leCoded
        default: nil
        }
    }

    /// The parameters of the connection that an advertising event leads to; nil if the event is not received.
    func parameters(for advertisement: AdvertisingState, at time: Instant) -> ConnectionTiming? {
        guard subevent == nil, isExtended || advertisement.isLegacy,
            let listening = self[advertisement.parameters.primaryPHY],
            listening.timing.receives(advertisement.parameters.primaryChannelMap, at: time, since: start)
        else { return nil }
        return self[advertisement.dataPHY]?.parameters
    }
}
