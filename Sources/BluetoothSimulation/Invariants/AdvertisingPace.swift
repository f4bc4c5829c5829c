import BluetoothBase
import BluetoothHCI

/// Watches that a host does not advertise at once after links that end at once, one after the other: a peer that connects
/// and leaves would keep it busy.
struct AdvertisingPace: Sendable {
    private var beginnings: [UInt16: Instant] = [:]
    /// How many links have ended at once, and when the last one did.
    private var count = 0
    private var last = Instant.zero
    /// Whether the controller has a command that it has not answered, and since when it has none.
    private var isBusy = false
    private var freeSince = Instant.zero
    /// When the host last had nothing with its controller.
    private var lastFree = Instant.zero

    /// What ends within this time is of no use to anybody. Hosts may take longer links for that, too.
    private static let shortest = Duration.milliseconds(90)
    /// So far apart they have nothing to do with each other.
    private static let longestGap = Duration.milliseconds(1_500)
    /// After the third, a host waits for longer than this. What it had decided before may wait for other commands: it has if one
    /// after the other was with the controller since before the end.
    private static let wait = (from: Duration.milliseconds(60), to: Duration.milliseconds(150))

    mutating func received(_ packet: Span<UInt8>, at now: Instant) {
        guard packet.count >= 7, packet[0] == HCIPacketType.event.rawValue else { return }
        switch HCIEventCode(rawValue: packet[1]) {
        // LE Connection Complete and LE Enhanced Connection Complete, as a peripheral.
        case .leMeta where packet.count >= 22 && (packet[3] == 0x01 || packet[3] == 0x0A):
            let isPeripheral = packet[4] == 0 && packet[7] == 1
            if isPeripheral { beginnings[UInt16(packet[5]) | UInt16(packet[6]) << 8] = now }
        case .disconnectionComplete where packet[3] == 0:
            let handle = UInt16(packet[4]) | UInt16(packet[5]) << 8
            guard let beginning = beginnings.removeValue(forKey: handle) else { return }
            // One that this host has ended is none.
            let isShort =
                packet[6] == HCIStatus.remoteUserTerminatedConnection.rawValue
                && now < beginning.advanced(by: Self.shortest)
            guard isShort else { return }
            count = now < last.advanced(by: Self.longestGap) ? count + 1 : 1
            last = now
        case .commandComplete, .commandStatus: (isBusy, freeSince) = (false, now)
        default: return
        }
    }

    /// False if advertising begins too soon.
    mutating func sent(_ packet: Span<UInt8>, at now: Instant) -> Bool {
        guard packet.count >= 4, packet[0] == HCIPacketType.command.rawValue else { return true }
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        if opcode == .reset { self = AdvertisingPace() }
        if !isBusy {
            if freeSince < now { lastFree = now }
            isBusy = true
        }
        // A link that this host ends is none of those, even if its peer is faster.
        if opcode == .disconnect, packet.count >= 6 {
            beginnings[UInt16(packet[4]) | UInt16(packet[5]) << 8] = nil
        }
        // What has begun before the end goes on.
        guard opcode == .leSetAdvertisingParameters, count >= 3, lastFree > last else { return true }
        return now < last.advanced(by: Self.wait.from) || now >= last.advanced(by: Self.wait.to)
    }
}
