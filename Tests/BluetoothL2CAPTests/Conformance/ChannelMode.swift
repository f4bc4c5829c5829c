import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

/// The two kinds of credit-based channels, for which the L2CAP test suite asks the same.
enum ChannelMode: String, CaseIterable {
    case leCreditBased, enhanced
}

extension ChannelScene {
    /// Opens a channel that the peer asks for: its endpoint is 0x0050, it takes SDUs of 100 octets.
    ///
    /// - Parameters:
    ///   - mps: the longest K-frame that the peer takes.
    ///   - credits: the first credits of the peer; an enhanced channel must have one.
    mutating func accept(_ mode: ChannelMode, mps: UInt8 = 64, credits: UInt8 = 2) throws -> CreditBasedChannel.ID {
        let (mps, credits) = (hexadecimal(mps), hexadecimal(credits))
        switch mode {
        case .leCreditBased: _ = receive("14 01 0A 00 80 00 50 00 64 00 \(mps) 00 \(credits) 00")
        case .enhanced: _ = receive("17 01 0A 00 80 00 64 00 \(mps) 00 \(credits) 00 50 00")
        }
        guard case .opened(let id, by: .peer)? = events().last else { throw ChannelOpeningFailure.cancelled }
        return id
    }

    /// Opens a channel to SPSM 0x80, which the peer agrees to with the endpoint 0x0050.
    mutating func open(
        _ mode: ChannelMode, _ local: ChannelParameters = Self.local, at endpoint: UInt8 = 0x50
    ) throws -> (id: CreditBasedChannel.ID, request: [UInt8]) {
        var writer = ByteWriter()
        let id: CreditBasedChannel.ID
        switch mode {
        case .leCreditBased:
            id = try signalling.openChannel(to: 0x80, parameters: local, at: now, into: &writer)
            _ = receive(
                "15 \(hexadecimal(writer.bytes[1])) 0A 00 \(hexadecimal(endpoint)) 00 64 00 40 00 02 00 00 00")
        case .enhanced:
            id = try #require(try signalling.openChannels(1, to: 0x80, parameters: local, at: now, into: &writer).first)
            _ = receive(
                "18 \(hexadecimal(writer.bytes[1])) 0A 00 64 00 40 00 02 00 00 00 \(hexadecimal(endpoint)) 00")
        }
        return (id, writer.bytes)
    }

    /// Brings an SDU in K-frames of a length. Returns the outcome of the last one.
    ///
    /// - Parameter first: the length of the first K-frame, if it is another.
    mutating func bring(_ sdu: [UInt8], framesOf length: Int, firstOf first: Int? = nil) -> Receipt {
        var octets = [UInt8(truncatingIfNeeded: sdu.count), UInt8(truncatingIfNeeded: sdu.count >> 8)] + sdu
        var receipt = Receipt.unknown
        var next = first ?? length
        while !octets.isEmpty {
            receipt = frame(Array(octets.prefix(next)))
            octets.removeFirst(min(next, octets.count))
            next = length
        }
        return receipt
    }
}
