import BluetoothBase

/// Resolvable private addresses (Core 5.4, Vol 6, Part B, 1.3.2.2 and 1.3.2.3).
extension CryptoToolbox {
    /// Generates a new resolvable private address.
    public func resolvablePrivateAddress(
        resolvingKey: UInt128, entropy: inout some RandomNumberGenerator
    ) -> DeviceAddress {
        var random = UInt32(truncatingIfNeeded: entropy.next() >> 32) & 0x3F_FFFF
        // The random part must be neither all zeros nor all ones.
        if random == 0 || random == 0x3F_FFFF { random ^= 1 }
        let prand = 0x40_0000 | random
        return DeviceAddress(UInt64(prand) << 24 | UInt64(ah(resolvingKey, prand)), kind: .random)
    }

    /// Whether an address was generated with this key. A key of 0 stands for no key, and resolves nothing.
    public func resolves(_ address: DeviceAddress, resolvingKey: UInt128) -> Bool {
        guard resolvingKey != 0, address.kind == .random, address.randomKind == .resolvablePrivate else { return false }
        let hash = ah(resolvingKey, UInt32(truncatingIfNeeded: address.value >> 24))
        return hash == UInt32(truncatingIfNeeded: address.value) & 0xFF_FFFF
    }
}

extension DeviceAddress {
    /// Whether the address is a resolvable private one: a random address whose two most significant bits are 01.
    package var isResolvable: Bool { kind == .random && value >> 46 == 0b01 }

    /// The block that an Identity Resolving Key encrypts to generate this address: prand, padded with leading zeros
    /// (Core 5.4, Vol 3, Part H, 2.2.2).
    package var resolvingBlock: UInt128 { UInt128(value >> 24 & 0xFF_FFFF) }

    /// Whether the address was generated with the key that encrypts `resolvingBlock` to `encrypted`.
    package func isMade(from encrypted: UInt128) -> Bool {
        (value ^ UInt64(truncatingIfNeeded: encrypted)) & 0xFF_FFFF == 0
    }
}
