/// Unencrypted frames: the octet 0, the length of the payload and the number of the message, both as variable-length
/// numbers, and the payload.
struct PlaintextFraming: Framing {
    static let longestPayload = 65_535

    private var input = InputBuffer()

    mutating func append(_ octets: some Sequence<UInt8>) { input.append(octets) }

    mutating func next() throws(ProtocolFailure) -> FramingEvent? {
        guard input.count > 0 else { return nil }
        switch input[0] {
        case 0: break
        case 1: throw failure("it uses encryption, but this gateway has no key")
        default: throw failure("it does not speak ESPHome's API")
        }
        var offset = 1
        guard let length = try number(at: &offset) else { return nil }
        guard length <= FrameLimits.payload else { throw failure("a message of \(length) octets is too long") }
        guard let type = try number(at: &offset) else { return nil }
        guard let type = UInt16(exactly: type) else { throw failure("message \(type) does not exist") }
        guard input.count >= offset + length else { return nil }
        return .frame(Frame(MessageType(rawValue: type), input.take(length, after: offset)))
    }

    mutating func send(_ frame: Frame, into output: inout [UInt8]) {
        guard frame.payload.count <= Self.longestPayload else { return }
        output.append(0)
        Self.append(frame.payload.count, to: &output)
        Self.append(Int(frame.type.rawValue), to: &output)
        output += frame.payload
    }

    /// Reads a variable-length number of up to four octets; nil if it is incomplete.
    private func number(at offset: inout Int) throws(ProtocolFailure) -> Int? {
        var number = 0
        for place in 0..<4 {
            guard offset < input.count else { return nil }
            let octet = input[offset]
            offset += 1
            number |= Int(octet & 0x7F) << (7 * place)
            if octet & 0x80 == 0 { return number }
        }
        throw failure("a number of more than four octets is too long")
    }

    private static func append(_ number: Int, to output: inout [UInt8]) {
        var rest = number
        while rest > 0x7F {
            output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        output.append(UInt8(rest))
    }

    /// A client that expects encryption detects from the leading 0 that this side uses none. Any other client receives
    /// a request to disconnect.
    private func failure(_ reason: String) -> ProtocolFailure {
        ProtocolFailure(reason, farewell: [0, 0, UInt8(MessageType.disconnectRequest.rawValue)])
    }
}
