#if !BoringSSL
/// Arithmetic on P-256. Points are octets: the x-coordinate, then the y-coordinate, each with the most significant
/// octet first.
///
/// An invalid key of a peer makes a call fail, and OpenSSL remembers the error for the thread. Another user of the
/// library on this thread could mistake it for its own, so it is discarded.
extension OpenSSL {
    /// `NID_X9_62_prime256v1`.
    private static let p256: CInt = 415
    /// The first octet of an encoded point with both coordinates (SEC 1, 2.3.3), which is also the number of this form.
    private static let uncompressed: UInt8 = 4
    /// `BN_FLG_CONSTTIME`: the time that a computation takes must not depend on the number.
    private static let constantTime: CInt = 4

    /// The public key for a private key of 32 octets; nil if the private key is 0, or not less than the curve's order.
    func publicKey(of privateKey: [UInt8]) -> [UInt8]? {
        setErrorMark()
        defer { discardErrors() }
        guard let group = OpenSSLObject(makeGroup(context.pointer, nil, Self.p256), free: freeGroup),
            let scalar = scalar(privateKey, of: group),
            let point = OpenSSLObject(makePoint(group.pointer), free: freePoint),
            set(point, toGeneratorTimes: scalar, in: group)
        else { return nil }
        return octets(of: point, in: group)
    }

    /// The x-coordinate of the product of a point and a private key; nil if the point is not on the curve, or if the
    /// private key is invalid.
    func sharedSecret(privateKey: [UInt8], publicKey: [UInt8]) -> [UInt8]? {
        setErrorMark()
        defer { discardErrors() }
        guard let group = OpenSSLObject(makeGroup(context.pointer, nil, Self.p256), free: freeGroup),
            let scalar = scalar(privateKey, of: group),
            let point = OpenSSLObject(makePoint(group.pointer), free: freePoint),
            set(point, to: publicKey, in: group),
            let product = OpenSSLObject(makePoint(group.pointer), free: freePoint),
            set(product, to: point, times: scalar, in: group)
        else { return nil }
        return octets(of: product, in: group).map { Array($0[..<32]) }
    }

    private func scalar(_ octets: [UInt8], of group: borrowing OpenSSLObject) -> OpenSSLObject? {
        guard let number = OpenSSLObject(makeNumber(octets, CInt(octets.count), nil), free: freeNumber),
            prepareScalar(number, of: group)
        else { return nil }
        return number
    }

    // MARK: Calls
    // An object lives at least as long as a call that borrows it, but not always until the end of a scope.

    /// Returns whether the number is in range.
    private func prepareScalar(_ number: borrowing OpenSSLObject, of group: borrowing OpenSSLObject) -> Bool {
        setFlags(number.pointer, Self.constantTime)
        guard let order = order(group.pointer) else { return false }
        return isZero(number.pointer) == 0 && compare(number.pointer, order) < 0
    }

    private func set(
        _ point: borrowing OpenSSLObject, toGeneratorTimes scalar: borrowing OpenSSLObject,
        in group: borrowing OpenSSLObject
    ) -> Bool {
        multiply(group.pointer, point.pointer, scalar.pointer, nil, nil, nil) == 1
    }

    private func set(
        _ product: borrowing OpenSSLObject, to point: borrowing OpenSSLObject, times scalar: borrowing OpenSSLObject,
        in group: borrowing OpenSSLObject
    ) -> Bool {
        multiply(group.pointer, product.pointer, nil, point.pointer, scalar.pointer, nil) == 1
    }

    private func set(
        _ point: borrowing OpenSSLObject, to octets: [UInt8], in group: borrowing OpenSSLObject
    ) -> Bool {
        let encoded = [Self.uncompressed] + octets
        return decodePoint(group.pointer, point.pointer, encoded, encoded.count, nil) == 1
    }

    private func octets(of point: borrowing OpenSSLObject, in group: borrowing OpenSSLObject) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: 65)
        let form = CInt(Self.uncompressed)
        let count = encodePoint(group.pointer, point.pointer, form, &octets, octets.count, nil)
        // The point at infinity has one octet.
        return count == octets.count ? Array(octets[1...]) : nil
    }
}
#endif
