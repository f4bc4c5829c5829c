import BluetoothBase

/// A digest of a sequence of packets (FNV-1a, 64 bits, over words), for comparing two runs. It is not cryptographically
/// secure.
public struct PacketDigest: Equatable, Hashable, Sendable {
    /// The 64-bit digest of everything that was added so far.
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ word: UInt64) { value = (value ^ word) &* 0x0000_0100_0000_01B3 }

    mutating func add(_ packet: Span<UInt8>) {
        var word = UInt64(packet.count), index = 0
        packet.withUnsafeBytes { octets in
            while index &+ 8 <= octets.count {
                add(UInt64(bigEndian: octets.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
                index &+= 8
                word = 0
            }
        }
        while index < packet.count {
            word = word << 8 | UInt64(packet[index])
            index &+= 1
        }
        add(word)
        // Fold the upper bits down, where the last multiplications left most of the entropy.
        value ^= value >> 32
    }
}
