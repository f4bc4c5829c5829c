import BluetoothBase
import BluetoothHCI

/// Checks that a host does not advertise immediately after a series of links that end immediately. A peer that
/// repeatedly connects and disconnects would keep it busy.
struct AdvertisingPace: Sendable {
    private var beginnings: [UInt16: Instant] = [:]
    /// The number of successive links that ended immediately, and when the last one did.
    private var count = 0
    private var last = Instant.zero
    /// Whether the controller has an unanswered command, and since when it has had none.
    private var isBusy = false
    private var freeSince = Instant.zero
    /// The last time at which the host had no command pending.
    private var lastFree = Instant.zero

    /// A link that ends within this time is considered useless. Hosts may use a longer limit.
    private static let shortest = Duration.milliseconds(90)
    /// Ends that are farther apart are unrelated.
    private static let longestGap = Duration.milliseconds(1_500)
    /// After the third such link, the host must wait longer than this. A command that it issued before may be queued
    /// behind others if the controller was continuously busy since before the end.
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
            // Links that this host has ended do not count.
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

    /// Returns false if advertising begins too soon.
    mutating func sent(_ packet: Span<UInt8>, at now: Instant) -> Bool {
        guard packet.count >= 4, packet[0] == HCIPacketType.command.rawValue else { return true }
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        if opcode == .reset { self = AdvertisingPace() }
        if !isBusy {
            if freeSince < now { lastFree = now }
            isBusy = true
        }
        // Links that this host ends do not count, even if the peer is faster.
        if opcode == .disconnect, packet.count >= 6 {
            beginnings[UInt16(packet[4]) | UInt16(packet[5]) << 8] = nil
        }
        // Advertising that began before the end may continue.
        guard opcode == .leSetAdvertisingParameters, count >= 3, lastFree > last else { return true }
        return now < last.advanced(by: Self.wait.from) || now >= last.advanced(by: Self.wait.to)
    }
}
