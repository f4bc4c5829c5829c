import BluetoothBase
import BluetoothHCI

/// Checks the packets between one host and its controller for keys and encryption: which links are encrypted according
/// to the host's events, and what the host sends over them.
final class SecurityInspector {
    /// The events on links and pairings derived from packets.
    enum Event {
        case linkBegan(with: DeviceAddress)
        case requestSent(to: DeviceAddress)
        case requestReceived(from: DeviceAddress)
        case encrypted(with: DeviceAddress)
    }

    private struct LinkState {
        let handle: UInt16
        let peer: DeviceAddress
        var isEncrypted = false
        /// The EDIV and Rand of the key that the peer has requested.
        var keyRequest: (diversifier: UInt16, random: UInt64)?
    }

    private var links: [LinkState] = []
    /// Peers with which a link was ever encrypted.
    private var everEncrypted: Set<UInt64> = []
    /// Links whose end the host learns of in this turn. What it sent before must still be checked.
    private var ending: [LinkState] = []
    private let report: (Event) -> Void
    /// The key of the bond that may be used for a peer's nonzero EDIV and Rand.
    private let bondedKey: (_ peer: DeviceAddress, _ diversifier: UInt16, _ random: UInt64) -> UInt128?
    /// Whether a bond may not have reached the store yet, so that only the host knows its key.
    private let isKeyUnderWay: () -> Bool
    /// Whether octets are the beginning of a value of this host that requires an encrypted link.
    private let isLocked: (Span<UInt8>) -> Bool
    /// The identity address of the device that uses an address.
    private let identity: (DeviceAddress) -> DeviceAddress

    init(
        report: @escaping (Event) -> Void, bondedKey: @escaping (DeviceAddress, UInt16, UInt64) -> UInt128?,
        isKeyUnderWay: @escaping () -> Bool = { false },
        isLocked: @escaping (Span<UInt8>) -> Bool, identity: @escaping (DeviceAddress) -> DeviceAddress = { $0 }
    ) {
        self.report = report
        self.bondedKey = bondedKey
        self.isKeyUnderWay = isKeyUnderWay
        self.isLocked = isLocked
        self.identity = identity
    }

    /// Whether the host was notified that its link with a peer is encrypted.
    func isEncrypted(with peer: DeviceAddress) -> Bool {
        (links + ending).contains { $0.peer.value == peer.value && $0.isEncrypted }
    }

    func wasEncrypted(with peer: DeviceAddress) -> Bool { everEncrypted.contains(peer.value) }

    func reset() {
        ending += links
        links = []
    }

    /// The host is about to receive packets.
    func beginTurn() { ending = [] }

    // MARK: - From the host

    func sent(_ packet: Span<UInt8>) -> HCIInspector.Finding? {
        guard packet.count >= 4 else { return nil }
        switch HCIPacketType(rawValue: packet[0]) {
        case .command: return sentCommand(packet)
        case .aclData: return sentData(packet)
        case .event, .synchronousData, .isoData, nil: return nil
        }
    }

    private func sentCommand(_ packet: Span<UInt8>) -> HCIInspector.Finding? {
        let opcode = HCIOpcode(rawValue: word(packet, 1))
        if opcode == .reset { reset() }
        guard opcode == .leLongTermKeyRequestReply, packet.count >= 22, let index = link(word(packet, 4)) else {
            return nil
        }
        guard let request = links[index].keyRequest else {
            return .init(rule: .bond, text: "the host sent a key that the controller had not requested")
        }
        links[index].keyRequest = nil
        // Keys of LE Secure Connections, and those of pairings in progress, have no EDIV and Rand. The controllers
        // compare them.
        guard request.diversifier != 0 || request.random != 0 else { return nil }
        var key: UInt128 = 0
        for offset in (0..<16).reversed() { key = key << 8 | UInt128(packet[6 + offset]) }
        let known = bondedKey(links[index].peer, request.diversifier, request.random)
        guard known == key || known == nil && isKeyUnderWay() else {
            return .init(rule: .bond, text: "the host sent a key that does not belong to the requested EDIV and Rand")
        }
        return nil
    }

    private func sentData(_ packet: Span<UInt8>) -> HCIInspector.Finding? {
        guard packet.count > Self.start, packet[2] >> 4 & 0b11 != 0b01, let index = link(word(packet, 1)) else {
            return nil
        }
        if isSecurityManager(packet) {
            if packet[Self.start] == 0x01 { report(.requestSent(to: links[index].peer)) }
            return nil
        }
        guard packet[7] == 4, packet[8] == 0, !links[index].isEncrypted,
            let offset = Self.valueOffsets[packet[Self.start]], packet.count > Self.start + offset,
            isLocked(packet.extracting(droppingFirst: Self.start + offset))
        else { return nil }
        return .init(rule: .protection, text: "a value that requires encryption was sent over an unencrypted link")
    }

    /// The offset of the first value in each ATT PDU of a server.
    private static let valueOffsets: [UInt8: Int] = [0x09: 4, 0x0B: 1, 0x0F: 1, 0x1B: 3, 0x1D: 3, 0x21: 3]
    /// The offset of a PDU, after the headers of H4, ACL and L2CAP.
    private static let start = 9

    // MARK: - To the host

    func received(_ packet: Span<UInt8>) {
        guard packet.count >= 3 else { return }
        switch HCIPacketType(rawValue: packet[0]) {
        case .aclData:
            guard packet.count > Self.start, packet[2] >> 4 & 0b11 != 0b01, isSecurityManager(packet),
                packet[Self.start] == 0x01, let index = link(word(packet, 1))
            else { return }
            report(.requestReceived(from: links[index].peer))
        case .event where packet.count == 3 + Int(packet[2]): receivedEvent(packet)
        case .event, .command, .synchronousData, .isoData, nil: return
        }
    }

    private func receivedEvent(_ packet: Span<UInt8>) {
        switch HCIEventCode(rawValue: packet[1]) {
        case .disconnectionComplete where packet.count >= 7 && packet[3] == 0:
            guard let index = link(word(packet, 4)) else { return }
            ending.append(links.remove(at: index))
        case .encryptionChange where packet.count >= 7, .encryptionChangeV2 where packet.count >= 7:
            guard packet[3] == 0, let index = link(word(packet, 4)) else { return }
            links[index].isEncrypted = packet[6] != 0
            everEncrypted.insert(links[index].peer.value)
            report(.encrypted(with: links[index].peer))
        case .encryptionKeyRefreshComplete where packet.count >= 6 && packet[3] == 0:
            guard let index = link(word(packet, 4)) else { return }
            report(.encrypted(with: links[index].peer))
        case .leMeta where packet.count >= 22 && (packet[3] == 0x01 || packet[3] == 0x0A) && packet[4] == 0:
            var address: UInt64 = 0
            for offset in (0..<6).reversed() { address = address << 8 | UInt64(packet[9 + offset]) }
            let handle = word(packet, 5) & 0x0FFF
            links.removeAll { $0.handle == handle }
            let peer = identity(DeviceAddress(address, kind: .public))
            links.append(LinkState(handle: handle, peer: peer))
            report(.linkBegan(with: peer))
        case .leMeta where packet.count >= 16 && packet[3] == 0x05:
            guard let index = link(word(packet, 4)) else { return }
            var random: UInt64 = 0
            for offset in (0..<8).reversed() { random = random << 8 | UInt64(packet[6 + offset]) }
            links[index].keyRequest = (word(packet, 14), random)
        default: return
        }
    }

    // MARK: - Octets

    private func isSecurityManager(_ packet: Span<UInt8>) -> Bool { packet[7] == 6 && packet[8] == 0 }

    private func link(_ handle: UInt16) -> Int? { links.firstIndex { $0.handle == handle & 0x0FFF } }

    private func word(_ packet: Span<UInt8>, _ offset: Int) -> UInt16 {
        UInt16(packet[offset]) | UInt16(packet[offset + 1]) << 8
    }
}
