import BluetoothBase
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers

/// An L2CAP channel from its user's point of view.
struct UserChannel {
    let id: CreditBasedChannel.ID
    var information: ChannelInformation
    /// The stream of SDUs to the peer, the number of the last one, and the number still to send.
    let outgoing: UInt32
    var lastSent: UInt32 = 0
    var toSend = 0
    /// The number of SDUs that may be sent.
    var credit = SharedHost.channelCredit
    /// The stream from the peer, once an SDU has arrived, and the number of the last one.
    var incoming: UInt32?
    var lastReceived: UInt32 = 0
    /// The shares of the window that belong to octets received and not consumed, oldest first.
    var held: [Int] = []
    var reading = Reading.eager
    /// The MTU and MPS that this user has requested in place of the original ones.
    var reconfiguration: (mtu: UInt16, mps: UInt16)?
    /// How the user has closed the channel, if it has: after queued data has arrived, or abruptly.
    var closing: Closing?

    enum Closing { case orderly, abrupt }

    /// How the user consumes received SDUs.
    enum Reading {
        /// Everything immediately.
        case eager
        /// Nothing.
        case paused
        /// What arrived first, whenever the number of the last SDU is a multiple of four.
        case slow
    }

    /// The share of the window that the held octets take, in octets.
    var heldOctets: Int { held.reduce(0, +) }

    /// The maximum of `heldOctets`: the window, in K-frames of the longest MPS, plus one SDU. All K-frames for which
    /// the peer has credits may arrive while this user consumes nothing.
    var octetLimit: Int {
        let local = information.local
        let mps = max(local.mps, reconfiguration?.mps ?? 0), mtu = max(local.mtu, reconfiguration?.mtu ?? 0)
        // A K-frame may carry the length of its SDU in addition to the octets that the MPS limits.
        return Int(local.window) * (Int(mps) + 2) + max(Int(mtu) + 2, Int(local.mps))
    }
}

/// An SDU that states its stream and its position there.
struct SimulatedSDU: Equatable {
    var stream: UInt32
    /// Its number in the stream, from 1.
    var number: UInt32
    /// Its length, in octets.
    var count: Int

    static let leastCount = 10

    /// The octets of the SDU: the numbers, the length, and a pattern.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: stream >> shift)) }
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        bytes.append(UInt8(truncatingIfNeeded: count))
        bytes.append(UInt8(truncatingIfNeeded: count >> 8))
        while bytes.count < count { bytes.append(filling(bytes.count)) }
        return bytes
    }

    private func filling(_ position: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (number &* 29) ^ UInt32(truncatingIfNeeded: position &* 7))
    }

    init(stream: UInt32, number: UInt32, count: Int) {
        self.stream = stream
        self.number = number
        self.count = count
    }

    /// Decodes the SDU that the octets begin with; nil if it is not complete.
    init?(first bytes: Span<UInt8>) {
        guard bytes.count >= Self.leastCount else { return nil }
        count = Int(bytes[8]) | Int(bytes[9]) << 8
        guard count >= Self.leastCount, count <= bytes.count else { return nil }
        stream = 0
        number = 0
        for index in 0..<4 {
            stream |= UInt32(bytes[index]) << (8 * index)
            number |= UInt32(bytes[4 + index]) << (8 * index)
        }
        for index in Self.leastCount..<count where bytes[index] != filling(index) { return nil }
    }
}
