import BluetoothSMP

// Numbers as libraries take them: octets, most significant first.

extension UInt128 {
    init(bigEndianOctets octets: ArraySlice<UInt8>) { self = octets.reduce(0) { $0 << 8 | UInt128($1) } }

    var bigEndianOctets: [UInt8] { (0..<16).reversed().map { UInt8(truncatingIfNeeded: self >> UInt128(8 * $0)) } }
}

extension FieldElement {
    /// Creates an element from 32 octets.
    init(_ octets: ArraySlice<UInt8>) {
        self.init(
            high: UInt128(bigEndianOctets: octets.prefix(16)), low: UInt128(bigEndianOctets: octets.dropFirst(16)))
    }

    var octets: [UInt8] { high.bigEndianOctets + low.bigEndianOctets }
}

extension P256PublicKey {
    /// Creates a key from 64 octets: the x-coordinate, then the y-coordinate.
    init(octets: [UInt8]) { self.init(x: FieldElement(octets[..<32]), y: FieldElement(octets[32...])) }

    var octets: [UInt8] { x.octets + y.octets }
}
