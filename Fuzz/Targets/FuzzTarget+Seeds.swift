import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// A packet of a capture, to make seeds from.
public struct SeedPacket: Sendable {
    /// Whether the controller sent the packet to its host. If false, the host sent it.
    public var isFromController: Bool
    /// The whole packet, H4 indicator first.
    public var bytes: [UInt8]

    /// Creates a packet of a capture from its direction and its octets.
    public init(isFromController: Bool, bytes: [UInt8]) {
        self.isFromController = isFromController
        self.bytes = bytes
    }
}

extension FuzzTarget {
    /// Inputs made from a capture: real packets of other stacks, for the fuzzer to start from.
    ///
    /// - Parameter file: the unmodified capture.
    public func seeds(from packets: [SeedPacket], file: [UInt8]) -> [[UInt8]] {
        let events = packets.filter(\.isFromController).map(\.bytes)
        let attributes = packets.frames(on: 4)
        switch self {
        case .framer:
            let commands = packets.filter { !$0.isFromController }.map(\.bytes)
            return [[0, 6] + events.prefix(20).flatMap { $0 }, [1, 6] + commands.prefix(20).flatMap { $0 }]
        case .packet: return packets.map(\.bytes)
        case .reassembly:
            let data = packets.filter(\.isData)
            return [script([255], data.map { ([$0.bytes[2] >> 4], [UInt8]($0.bytes.dropFirst(5))) })]
        case .signalling: return [0, 1].map { script([$0], packets.frames(on: 5).map { ([7], $0) }) }
        case .channels: return seedChannels
        case .bearers:
            // Two bearers of the peer's, and its PDUs on one of them: those of a client, and what answers a discovery.
            let open: [UInt8] = [12, 1, 0, 2, 200, 50]
            let requests = attributes.filter(\.isRequest).prefix(40).map { ([0, 1, 0] as [UInt8], $0) }
            let responses = attributes.filter { !$0.isRequest }.prefix(40).map { ([0, 1, 0] as [UInt8], $0) }
            return seedBearers + [script([1] + open, requests), script([0] + open + [19, 0, 2], responses)]
        case .attribute: return attributes
        case .server: return [script([0, 0], attributes.filter(\.isRequest).map { ([23], $0) })]
        case .client:
            // Every operation, answered with PDUs from the capture.
            let responses = attributes.filter { !$0.isRequest }.prefix(60).map { ([15] as [UInt8], $0) }
            return (0..<21).map { script([0, 0, 0, $0], responses) }
        case .pairing: return packets.pairings
        case .advertising: return packets.compactMap(\.advertisingData)
        case .values:
            // After the opcode of a response, and after the opcode and the handle of a notification or a write.
            return attributes.flatMap { [[UInt8]($0.dropFirst()), [UInt8]($0.dropFirst(3))] }
        case .document: return [Array(seedDocument.utf8)]
        case .sightings: return [script([2], packets.compactMap(\.advertisingData).map { ([31, 3, 0], $0) })]
        case .snoop:
            // The headers of the other formats, for the fuzzer to go on from.
            let pcap: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + Array(repeating: 0, count: 12) + [201, 0, 0, 0]
            let record: [UInt8] = Array(repeating: 0, count: 8) + [8, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 3, 12, 0]
            let section: [UInt8] =
                [0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0]
                + Array(repeating: 0xFF, count: 8) + [28, 0, 0, 0]
            let interface: [UInt8] = [1, 0, 0, 0, 20, 0, 0, 0, 187, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0]
            let block: [UInt8] =
                [6, 0, 0, 0, 48, 0, 0, 0] + Array(repeating: 0, count: 12) + [4, 0, 0, 0, 4, 0, 0, 0, 1, 3, 12, 0]
                + [2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0]
            return [[7] + file.prefix(2000), [9] + pcap + record, [11] + section + interface + block]
        case .trace: return [script([], packets.map { ([$0.isFromController ? 0 : 1], $0.bytes) })]
        case .host:
            // As a central, and as a peripheral: a link, its data, and raw packets.
            let frames = attributes.prefix(30).map { ([15, 1, 0] as [UInt8], $0) }
            let security = packets.frames(on: 6).map { ([15, 1, 3] as [UInt8], $0) }
            let raw = events.prefix(60).map { ([23] as [UInt8], $0) }
            let central: [UInt8] = [0, 1, 10, 0, 0, 13, 0, 1, 1]
            let peripheral: [UInt8] = [1, 10, 0, 1, 0, 10, 0, 1, 0, 10, 0, 1, 0, 10, 0, 1, 0, 13, 1, 1, 1]
            return [central, peripheral].flatMap {
                [script($0, frames), script($0, security), script($0, raw)]
            }
        }
    }
}

/// A channel that the peer opens, two SDUs, one of them in two K-frames, credits, and the end; then an enhanced one.
private let seedChannels = [
    script(
        [],
        [
            ([0], [0x14, 1, 10, 0, 0x80, 0, 0x50, 0, 100, 0, 23, 0, 2, 0]), ([4, 0], [3, 0, 1, 2, 3]),
            ([4, 0], [4, 0, 1]), ([4, 0], [2, 3, 4]), ([0], [0x16, 2, 4, 0, 0x50, 0, 3, 0]),
            ([0], [0x06, 3, 4, 0, 0x40, 0, 0x50, 0]),
        ]),
    script(
        [],
        [
            ([0], [0x17, 1, 12, 0, 0x80, 0, 100, 0, 64, 0, 2, 0, 0x50, 0, 0x51, 0]), ([4, 1], [1, 0, 9]),
            ([0], [0x19, 2, 6, 0, 200, 0, 80, 0, 0x50, 0]),
        ]),
]

/// Two bearers that the peer opens. It subscribes over one of them, and values are notified, more than it has given
/// credits for; then the host asks for bearers itself, as the answers to its questions about the peer's features let
/// it.
private let seedBearers: [[UInt8]] = [
    concatenation(
        [1, 12, 1, 0, 0, 200, 2], [0, 1, 0], [0x12, 0x13, 0, 1, 0].asChunk, [22, 0x12, 0], [1, 2, 3].asChunk,
        [22, 0x12, 0], [4, 5].asChunk, [15, 1, 3], [16, 1, 0, 1, 200], [17, 0]),
    concatenation(
        [0, 19, 9, 0], [11], [0x0B, 7].asChunk, [11], [0x09, 3, 9, 0, 1].asChunk, [11], [0x09, 3, 11, 0, 0].asChunk,
        [11], [0x13].asChunk, [13, 2, 0, 1, 100, 9], [19, 15, 1]),
]

/// The parts one after the other. The compiler takes too long for a sum of as many.
private func concatenation(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

/// A script: a beginning, then pieces of data, each preceded by the numbers that say what to do with it.
private func script(_ start: [UInt8], _ steps: [(choice: [UInt8], data: [UInt8])]) -> [UInt8] {
    steps.reduce(into: start) { $0 += $1.choice + $1.data.asChunk }
}

extension SeedPacket {
    fileprivate var isData: Bool { bytes.count > 9 && bytes[0] == HCIPacketType.aclData.rawValue }

    /// The data of an advertising report, or of a command that sets it.
    fileprivate var advertisingData: [UInt8]? {
        guard bytes.count > 4 else { return nil }
        switch (bytes[0], bytes[1], bytes[3]) {
        case (0x04, 0x3E, 0x02): return Array(bytes.dropFirst(14).dropLast())
        case (0x04, 0x3E, 0x0D): return Array(bytes.dropFirst(29))
        case (0x01, 0x37, _): return Array(bytes.dropFirst(8))
        default: return nil
        }
    }
}

extension [SeedPacket] {
    /// The payloads of the frames on a channel that came in one packet.
    fileprivate func frames(on channel: UInt8) -> [[UInt8]] {
        filter { $0.isData && $0.bytes[2] >> 4 != 1 && $0.bytes[7] == channel && $0.bytes[8] == 0 }
            .map { [UInt8]($0.bytes.dropFirst(9)) }
    }
}

extension [SeedPacket] {
    /// Each side's PDUs against either role, and two honest devices of each pair of IO capabilities.
    fileprivate var pairings: [[UInt8]] {
        let heard = filter(\.isFromController).frames(on: 6), sent = filter { !$0.isFromController }.frames(on: 6)
        guard !heard.isEmpty else { return [] }
        let begin: UInt8 = 0, answer: UInt8 = 4, encrypt: UInt8 = 10, deliver: UInt8 = 15, receive: UInt8 = 18
        let policies: [UInt8] = [0x70, 0x71]
        let honest = [UInt8](repeatElement([deliver, answer], count: 50).joined())
        return [0, 1].flatMap { (role: UInt8) in
            [heard, sent].map { script([role, 0x70, 0, 0x70, 0, begin], $0.map { ([answer, receive], $0) }) }
                + policies.flatMap { policy in
                    (0..<25 as Range<UInt8>).map { capabilities in
                        let ours = 16 + capabilities % 5, theirs = capabilities / 5
                        return [role, policy, ours, policy, theirs, begin] + honest + [encrypt] + honest
                    }
                }
        }
    }
}

extension [UInt8] {
    /// Whether this is an ATT PDU that a server takes.
    fileprivate var isRequest: Bool { first.map { $0 & 1 == 0 && $0 != 0x1A || $0 == 0x52 } ?? false }
}
