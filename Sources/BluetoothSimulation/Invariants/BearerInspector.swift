import BluetoothATT
import BluetoothBase

/// Checks the ATT PDUs of one bearer, by the first fragment of each.
struct BearerInspector: Sendable {
    /// The request of this host that awaits a response.
    private var ownRequest: UInt8?
    private var hasOwnIndication = false
    /// The value of the last indication, and the values confirmed most recently.
    private var indicated: SimulatedValue.Place?
    private var confirmed: [SimulatedValue.Place] = []
    /// Requests that were answered before they were sent, one bit for each opcode. A broken peer may answer a request
    /// that still waits in the host for a buffer, which then counts as answered.
    private var earlyAnswers: UInt64 = 0
    private var hasEarlyConfirmation = false
    /// The peer's unanswered requests and indications. A broken peer may have more than one.
    private var peerRequests: [UInt8] = []
    private var peerIndications = 0
    /// The MTU that each side accepts. The smaller one is the ATT_MTU.
    private var offeredMTU: UInt16 = 23 { didSet { noteMTU() } }
    private var acceptedMTU: UInt16 = 23 { didSet { noteMTU() } }
    /// The largest ATT_MTU so far, because a broken peer may exchange it again.
    private var mtu = 23

    /// The number of a peer's requests to remember.
    private static let maximumRequests = 64
    /// The number of confirmed values to remember. A host reports a confirmation in the turn in which it arrives.
    private static let maximumConfirmed = 4

    /// Creates the inspector of the bearer on the fixed channel.
    init() {}

    /// Creates the inspector of a bearer on a channel with an MTU.
    init(channelMTU: Int) { mtu = max(64, channelMTU) }

    /// Notes that the MTU of the channel may have grown.
    mutating func mayHaveGrown(to channelMTU: Int) { mtu = max(mtu, channelMTU) }

    mutating func sent(_ pdu: AttributePDU, _ packet: Span<UInt8>) -> HCIInspector.Finding? {
        if let finding = checkLength(pdu) ?? checkLayout(pdu, packet) { return finding }
        switch ATTOpcode.Kind(ofOpcode: pdu.opcode) {
        case .request:
            guard ownRequest == nil else {
                return .init(
                    rule: .oneRequest, text: "\(name(pdu.opcode)) was sent before the response to the previous request")
            }
            let bit: UInt64 = 1 << UInt64(pdu.opcode & 0x3F)
            if earlyAnswers & bit == 0 { ownRequest = pdu.opcode }
            earlyAnswers &= ~bit
            if pdu.opcode == ATTOpcode.exchangeMTURequest.rawValue { offeredMTU = pdu.parameter }
        case .response:
            guard let request = peerRequests.firstIndex(of: pdu.answeredRequest) else {
                return .init(rule: .oneRequest, text: "\(name(pdu.opcode)) was sent without a request")
            }
            peerRequests.remove(at: request)
            if pdu.opcode == ATTOpcode.exchangeMTUResponse.rawValue { acceptedMTU = pdu.parameter }
        case .indication:
            guard !hasOwnIndication else {
                return .init(rule: .oneIndication, text: "an indication was sent before the previous one was confirmed")
            }
            hasOwnIndication = !hasEarlyConfirmation
            indicated = SimulatedValue.Place(packet.extracting(droppingFirst: min(packet.count, pdu.start + 3)))
            if hasEarlyConfirmation { noteConfirmed() }
            hasEarlyConfirmation = false
        case .confirmation:
            guard peerIndications > 0 else {
                return .init(rule: .oneIndication, text: "a confirmation was sent without an indication")
            }
            peerIndications -= 1
        case .command, .notification: break
        }
        return nil
    }

    mutating func received(_ pdu: AttributePDU) {
        switch ATTOpcode.Kind(ofOpcode: pdu.opcode) {
        case .response:
            if pdu.opcode == ATTOpcode.exchangeMTUResponse.rawValue { acceptedMTU = pdu.parameter }
            if ownRequest == nil { earlyAnswers |= 1 << UInt64(pdu.answeredRequest & 0x3F) }
            if ownRequest == pdu.answeredRequest { ownRequest = nil }
        case .confirmation:
            if hasOwnIndication { noteConfirmed() } else { hasEarlyConfirmation = true }
            hasOwnIndication = false
        case .request:
            if peerRequests.count == Self.maximumRequests { peerRequests.removeFirst() }
            peerRequests.append(pdu.opcode)
            if pdu.opcode == ATTOpcode.exchangeMTURequest.rawValue { offeredMTU = pdu.parameter }
        case .indication: peerIndications += 1
        case .command, .notification: break
        }
    }

    /// Whether the peer has confirmed an indication of a value.
    func isConfirmed(_ place: SimulatedValue.Place) -> Bool { confirmed.contains(place) }

    private mutating func noteConfirmed() {
        if let indicated { confirmed = confirmed.suffix(Self.maximumConfirmed - 1) + [indicated] }
        indicated = nil
    }

    private mutating func noteMTU() { mtu = max(mtu, Int(min(offeredMTU, acceptedMTU))) }

    private func checkLength(_ pdu: AttributePDU) -> HCIInspector.Finding? {
        guard pdu.length > mtu, pdu.opcode != ATTOpcode.exchangeMTUResponse.rawValue else { return nil }
        return .init(rule: .mtu, text: "\(name(pdu.opcode)) of \(pdu.length) octets at an ATT_MTU of \(mtu)")
    }

    /// Checks that a PDU that is contained in one packet can be decoded.
    private func checkLayout(_ pdu: AttributePDU, _ packet: Span<UInt8>) -> HCIInspector.Finding? {
        guard pdu.length == packet.count - pdu.start else { return nil }
        do throws(DecodingFailure) {
            switch try ATTMessage(decoding: packet.extracting(droppingFirst: pdu.start)) {
            case .unknown(let opcode, _): return .init(rule: .wellFormed, text: "a PDU with opcode \(opcode)")
            default: return nil
            }
        } catch {
            return .init(rule: .wellFormed, text: "\(name(pdu.opcode)) that cannot be decoded: \(error)")
        }
    }

    private func name(_ opcode: UInt8) -> String {
        ATTOpcode(rawValue: opcode).map { "\($0)" } ?? "PDU \(hexadecimal(opcode, digits: 2))"
    }
}

/// The beginning of an ATT PDU, at the start of a frame.
struct AttributePDU: Sendable {
    /// The offset of the PDU, after the headers of H4, ACL and L2CAP, and on a credit-based channel after the length of
    /// the SDU.
    let start: Int
    let opcode: UInt8
    let length: Int
    /// The two octets after the opcode, 0 if they are missing.
    let parameter: UInt16

    /// The opcode of the request that a response answers. An Error Response contains it; for all others it is one less
    /// than the response's opcode.
    var answeredRequest: UInt8 {
        opcode == ATTOpcode.errorResponse.rawValue ? UInt8(truncatingIfNeeded: parameter) : opcode &- 1
    }

    /// The PDU on the fixed channel that a packet begins; nil if it does not begin one.
    init?(_ packet: Span<UInt8>) {
        let isStart = packet.count > 9 && packet[2] >> 4 & 0b11 != 0b01
        guard isStart, packet[7] == 4, packet[8] == 0 else { return nil }
        self.init(packet, at: 9, length: Int(packet[5]) | Int(packet[6]) << 8)
    }

    /// The PDU in a packet that begins a K-frame with the length of its SDU.
    init?(sduIn packet: Span<UInt8>) {
        guard packet.count > 11 else { return nil }
        self.init(packet, at: 11, length: Int(packet[9]) | Int(packet[10]) << 8)
    }

    private init(_ packet: Span<UInt8>, at start: Int, length: Int) {
        self.start = start
        self.length = length
        opcode = packet[start]
        parameter = packet.count > start + 2 ? UInt16(packet[start + 1]) | UInt16(packet[start + 2]) << 8 : 0
    }
}
