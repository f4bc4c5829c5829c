/// Speck with blocks and keys of 128 bits, a block cipher that needs no tables (Beaulieu et al., "The SIMON and SPECK
/// Families of Lightweight Block Ciphers", 2013).
///
/// It disguises addresses as identifiers, and protects nothing else. With a library's cipher, programs without pairing
/// would need that library only for this.
struct Speck128: Hashable, Sendable {
    /// A block, as the specification writes it: the left word first.
    struct Block: Hashable, Sendable {
        var left: UInt64
        var right: UInt64
    }

    private let roundKeys: [UInt64]

    init(key: Block) {
        var roundKey = key.right, left = key.left
        var roundKeys = [roundKey]
        for round in 0..<UInt64(31) {
            left = (roundKey &+ left.rotated(right: 8)) ^ round
            roundKey = roundKey.rotated(left: 3) ^ left
            roundKeys.append(roundKey)
        }
        self.roundKeys = roundKeys
    }

    func encrypted(_ block: Block) -> Block {
        roundKeys.reduce(into: block) { block, roundKey in
            block.left = (block.left.rotated(right: 8) &+ block.right) ^ roundKey
            block.right = block.right.rotated(left: 3) ^ block.left
        }
    }

    func decrypted(_ block: Block) -> Block {
        roundKeys.reversed().reduce(into: block) { block, roundKey in
            block.right = (block.right ^ block.left).rotated(right: 3)
            block.left = ((block.left ^ roundKey) &- block.right).rotated(left: 8)
        }
    }
}

extension UInt64 {
    fileprivate func rotated(left count: UInt64) -> UInt64 { self << count | self >> (64 - count) }
    fileprivate func rotated(right count: UInt64) -> UInt64 { self >> count | self << (64 - count) }
}
