import BluetoothBase
import BluetoothHCI

/// The times at which a scanner or initiator has its receiver on (Core 5.4, Vol 6, Part B, 4.4.3).
struct ScanTiming: Sendable {
    /// From the start of one window to the start of the next.
    var interval: LESlots
    /// The time in each interval during which the receiver is on.
    var window: LESlots

    var isValid: Bool {
        (0x0004...0x4000).contains(interval.rawValue) && (0x0004...0x4000).contains(window.rawValue)
            && window <= interval
    }

    /// Whether the extended commands, which allow longer times, accept it.
    var isValidExtended: Bool { interval.rawValue <= 0xFFFF && window.rawValue >= 4 && window <= interval }

    /// Whether an advertising event at `time` on the channels of `channelMap` is received. The scanner moves to the
    /// next channel in every interval.
    func receives(_ channelMap: AdvertisingChannelMap, at time: Instant, since start: Instant) -> Bool {
        let elapsed = time.nanoseconds &- min(start, time).nanoseconds
        let period = UInt64(max(1, interval.rawValue)) * 625_000
        let channel = AdvertisingChannelMap(rawValue: 1 << UInt8(truncatingIfNeeded: elapsed / period % 3))
        return elapsed % period < UInt64(window.rawValue) * 625_000 && channelMap.contains(channel)
    }
}
