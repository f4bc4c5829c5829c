import BluetoothBase
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers

/// An L2CAP channel as its user sees it.
struct UserChannel {
    let id: CreditBasedChannel.ID
    var information: ChannelInformation
    /// The stream of SDUs that goes to the peer, the number of the last, and how many are still to send.
    let outgoing: UInt32
    var lastSent: UInt32 = 0
    var toSend = 0
    /// How many SDUs may be sent.
    var credit = SharedHost.channelCredit
    /// The stream that comes from the peer, once there was an SDU, and the number of the last.
    var incoming: UInt32?
    var lastReceived: UInt32 = 0
    /// The lengths of the SDUs that this user has received and not taken.
    var held: [Int] = []
    var reading = Reading.eager
    /// The MTU and the MPS that this user has asked the peer to use instead of the first ones.
    var reconfiguration: (mtu: UInt16, mps: UInt16)?
    /// Whether the user has closed it, and whether what was to send was to arrive first.
    var closing: Closing?

    enum Closing { case orderly, abrupt }

    /// How the user takes SDUs that it receives.
    enum Reading {
        /// Each SDU at once.
        case eager
        /// None.
        case paused
        /// The oldest one with each fourth that arrives.
        case slow
    }

    /// The held SDUs, in octets. Each SDU counts as one K-frame of the first MPS or more.
    var heldOctets: Int { held.reduce(0) { $0 + max($1 + 2, Int(information.local.mps)) } }

    /// The most that `heldOctets` may be: the window, in K-frames of the longest MPS, and one SDU. All that the peer was granted
    /// may arrive while this user takes nothing.
    var octetLimit: Int {
        let local = information.local
        let mps = max(local.mps, reconfiguration?.mps ?? 0), mtu = max(local.mtu, reconfiguration?.mtu ?? 0)
        // A K-frame may have the length of its SDU beside the octets that the MPS limits.
        return Int(local.window) * (Int(mps) + 2) + max(Int(mtu) + 2, Int(local.mps))
    }
}

/// An SDU that says which stream it belongs to, and which place it has there.
struct SimulatedSDU: Equatable {
    var stream: UInt32
    /// Its number in the stream, from 1.
    var number: UInt32

    static let leastCount = 10

    /// Its octets: the numbers, how many octets there are, and a pattern.
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

    /// Nil for octets that are no whole SDU.
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
