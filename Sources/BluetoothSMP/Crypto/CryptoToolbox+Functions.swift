import BluetoothBase

/// The cryptographic toolbox (Core 5.4, Vol 3, Part H, 2.2), with the names of the specification. All values are
/// integers. Messages have the most significant octet first, as the specification writes them.
extension CryptoToolbox {
    /// The security function e: AES-128 on one block (2.2.1).
    public func e(_ key: UInt128, _ plaintext: UInt128) -> UInt128 {
        encrypt(key: key, block: plaintext)
    }

    /// The random address hash function ah (2.2.2).
    ///
    /// - Parameter r: 24 bits.
    /// - Returns: 24 bits.
    public func ah(_ k: UInt128, _ r: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: e(k, UInt128(r & 0xFF_FFFF))) & 0xFF_FFFF
    }

    /// The confirm value generation function c1 for LE legacy pairing (2.2.3).
    ///
    /// - Parameters:
    ///   - preq: The seven octets of the Pairing Request, as an integer with the code as its least significant octet.
    ///   - pres: The seven octets of the Pairing Response, in the same form.
    ///   - ia: The address of the initiator.
    ///   - ra: The address of the responder.
    public func c1(
        _ k: UInt128, _ r: UInt128, preq: UInt64, pres: UInt64, ia: DeviceAddress, ra: DeviceAddress
    ) -> UInt128 {
        let p1 = UInt128(pres) << 72 | UInt128(preq) << 16 | UInt128(ra.typeBit) << 8 | UInt128(ia.typeBit)
        let p2 = UInt128(ia.value) << 48 | UInt128(ra.value)
        return e(k, e(k, r ^ p1) ^ p2)
    }

    /// The key generation function s1 for LE legacy pairing (2.2.4).
    public func s1(_ k: UInt128, _ r1: UInt128, _ r2: UInt128) -> UInt128 {
        e(k, (r1 & UInt128(UInt64.max)) << 64 | r2 & UInt128(UInt64.max))
    }

    /// The confirm value generation function f4 of LE Secure Connections (2.2.6).
    public func f4(_ u: FieldElement, _ v: FieldElement, _ x: UInt128, _ z: UInt8) -> UInt128 {
        var message = Message()
        message.append(u)
        message.append(v)
        message.append(z)
        return authenticationCode(key: x, message: message.octets)
    }

    /// The key generation function f5 of LE Secure Connections (2.2.7).
    public func f5(
        _ w: FieldElement, _ n1: UInt128, _ n2: UInt128, _ a1: DeviceAddress, _ a2: DeviceAddress
    ) -> (macKey: UInt128, longTermKey: UInt128) {
        var secret = Message()
        secret.append(w)
        let t = authenticationCode(key: 0x6C88_8391_AAF5_A538_6037_0BDB_5A60_83BE, message: secret.octets)
        func derived(_ counter: UInt8) -> UInt128 {
            var message = Message()
            message.append(counter)
            message.append(UInt32(0x6274_6C65))
            message.append(n1)
            message.append(n2)
            message.append(a1)
            message.append(a2)
            message.append(UInt16(256))
            return authenticationCode(key: t, message: message.octets)
        }
        return (derived(0), derived(1))
    }

    /// The check value generation function f6 of LE Secure Connections (2.2.8).
    ///
    /// - Parameter ioCap: 24 bits: AuthReq, the OOB data flag and the IO capability, which is the least significant.
    public func f6(
        _ w: UInt128, _ n1: UInt128, _ n2: UInt128, _ r: UInt128, ioCap: UInt32, _ a1: DeviceAddress,
        _ a2: DeviceAddress
    ) -> UInt128 {
        var message = Message()
        message.append(n1)
        message.append(n2)
        message.append(r)
        message.append(UInt8(truncatingIfNeeded: ioCap >> 16))
        message.append(UInt16(truncatingIfNeeded: ioCap))
        message.append(a1)
        message.append(a2)
        return authenticationCode(key: w, message: message.octets)
    }

    /// The numeric comparison value generation function g2 (2.2.9). Its six least significant decimal digits are
    /// displayed.
    public func g2(_ u: FieldElement, _ v: FieldElement, _ x: UInt128, _ y: UInt128) -> UInt32 {
        var message = Message()
        message.append(u)
        message.append(v)
        message.append(y)
        return UInt32(truncatingIfNeeded: authenticationCode(key: x, message: message.octets))
    }

    /// The link key conversion function h6 (2.2.10).
    public func h6(_ w: UInt128, keyID: UInt32) -> UInt128 {
        var message = Message()
        message.append(keyID)
        return authenticationCode(key: w, message: message.octets)
    }

    /// The link key conversion function h7 (2.2.11).
    public func h7(salt: UInt128, _ w: UInt128) -> UInt128 {
        var message = Message()
        message.append(w)
        return authenticationCode(key: salt, message: message.octets)
    }

    /// The signature of an attribute PDU (2.4.5): 64 bits, which follow the sign counter in the PDU, least significant
    /// octet first.
    ///
    /// - Parameters:
    ///   - key: The CSRK.
    ///   - message: The signed octets, in transmission order.
    public func signature(key: UInt128, message: Span<UInt8>, counter: UInt32) -> UInt64 {
        // The integer message || SignCounter is sent least significant octet first. The counter is sent last, so it
        // leads the integer.
        var signed = Message()
        signed.append(counter)
        for index in message.indices.reversed() { signed.append(message[index]) }
        return UInt64(truncatingIfNeeded: authenticationCode(key: key, message: signed.octets) >> 64)
    }
}

/// Whether two secrets or check values are equal, in a time that does not depend on where they differ.
@inline(never)
package func isEqualInConstantTime(_ first: UInt128, _ second: UInt128) -> Bool {
    let difference = first ^ second
    return UInt64(truncatingIfNeeded: difference >> 64) | UInt64(truncatingIfNeeded: difference) == 0
}

/// A message for CMAC, most significant octet first.
private struct Message {
    var octets: [UInt8] = []

    mutating func append(_ value: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            octets.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func append(_ value: FieldElement) {
        append(value.high)
        append(value.low)
    }

    /// Seven octets: the type and the address.
    mutating func append(_ address: DeviceAddress) {
        append(address.typeBit)
        append(UInt16(truncatingIfNeeded: address.value >> 32))
        append(UInt32(truncatingIfNeeded: address.value))
    }
}

extension DeviceAddress {
    /// 0 for a public address, 1 for a random one.
    var typeBit: UInt8 { kind.rawValue & 1 }
}
