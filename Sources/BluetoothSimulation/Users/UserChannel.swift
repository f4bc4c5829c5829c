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
    /// The lengths of the SDUs that were received and not consumed.
    var held: [Int] = []
    var reading = Reading.eager
    /// The MTU and MPS that this user has requested in place of the original ones.
    var reconfiguration: (mtu: UInt16, mps: UInt16)?
    /// How the user has closed the channel, if it has: after queued data has arrived, or abruptly.
    var closing: Closing?

    enum Closing { case orderly, abrupt }

    /// How the user consumes received SDUs.
    enum Reading {
        /// Each SDU immediately.
        case eager
        /// No SDUs.
        case paused
        /// The oldest SDU with every fourth one that arrives.
        case slow
    }

    /// The size of the held SDUs, in octets. Each SDU counts as at least one K-frame of the original MPS.
    var heldOctets: Int { held.reduce(0) { $0 + max($1 + 2, Int(information.local.mps)) } }

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

    static let leastCount = 10

    /// The octets of the SDU: the numbers, the length, and a pattern.
    func bytes(count: Int) -> [UInt8] {
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

    init(stream: UInt32, number: UInt32) {
        self.stream = stream
        self.number = number
    }

    /// Decodes an SDU; nil if the octets are not one complete SDU.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.leastCount, Int(bytes[8]) | Int(bytes[9]) << 8 == bytes.count else { return nil }
        stream = 0
        number = 0
        for index in 0..<4 {
            stream |= UInt32(bytes[index]) << (8 * index)
            number |= UInt32(bytes[4 + index]) << (8 * index)
        }
        for index in Self.leastCount..<bytes.count where bytes[index] != filling(index) { return nil }
    }
}
