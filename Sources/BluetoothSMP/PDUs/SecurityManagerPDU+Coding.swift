import BluetoothBase

/// The first octet of a PDU (Core 5.4, Vol 3, Part H, 3.3, Table 3.3).
enum SecurityManagerCode: UInt8 {
    case pairingRequest = 0x01
    case pairingResponse = 0x02
    case pairingConfirm = 0x03
    case pairingRandom = 0x04
    case pairingFailed = 0x05
    case encryptionInformation = 0x06
    case centralIdentification = 0x07
    case identityInformation = 0x08
    case identityAddressInformation = 0x09
    case signingInformation = 0x0A
    case securityRequest = 0x0B
    case pairingPublicKey = 0x0C
    case pairingDHKeyCheck = 0x0D
    case pairingKeypressNotification = 0x0E
}

extension SecurityManagerPDU {
    /// Decodes a PDU. Octets that only the state of the pairing can validate, such as key sizes, are accepted as they
    /// are.
    ///
    /// An unknown code throws `.unknownCode`. An invalid length or value throws its own reason.
    public init(decoding pdu: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(pdu)
        let octet = try reader.readUInt8()
        guard let code = SecurityManagerCode(rawValue: octet) else {
            throw DecodingFailure(.unknownCode(UInt16(octet)), at: 0)
        }
        switch code {
        case .pairingRequest: self = .pairingRequest(try reader.readFeatures())
        case .pairingResponse: self = .pairingResponse(try reader.readFeatures())
        case .pairingConfirm: self = .pairingConfirm(try reader.readUInt128())
        case .pairingRandom: self = .pairingRandom(try reader.readUInt128())
        case .pairingFailed: self = .pairingFailed(PairingFailure(rawValue: try reader.readUInt8()))
        case .encryptionInformation: self = .encryptionInformation(longTermKey: try reader.readUInt128())
        case .centralIdentification:
            let diversifier = try reader.readUInt16()
            self = .centralIdentification(encryptedDiversifier: diversifier, random: try reader.readUInt64())
        case .identityInformation: self = .identityInformation(resolvingKey: try reader.readUInt128())
        case .identityAddressInformation: self = .identityAddressInformation(try reader.readTypedAddress())
        case .signingInformation: self = .signingInformation(signatureKey: try reader.readUInt128())
        case .securityRequest:
            self = .securityRequest(.init(rawValue: try reader.readUInt8()).intersection(.known))
        case .pairingPublicKey:
            let x = try reader.readFieldElement()
            self = .pairingPublicKey(P256PublicKey(x: x, y: try reader.readFieldElement()))
        case .pairingDHKeyCheck: self = .pairingDHKeyCheck(try reader.readUInt128())
        case .pairingKeypressNotification:
            guard let key = KeypressNotification(rawValue: try reader.readUInt8()) else {
                throw DecodingFailure(.invalidValue, at: 1)
            }
            self = .pairingKeypressNotification(key)
        }
        try reader.finish()
    }

    /// Appends the PDU.
    public func encode(into writer: inout ByteWriter) {
        writer.append(code.rawValue)
        switch self {
        case .pairingRequest(let features), .pairingResponse(let features):
            writer.append(features.octets, byteCount: 6)
        case .pairingConfirm(let value), .pairingRandom(let value), .encryptionInformation(let value),
            .identityInformation(let value), .signingInformation(let value), .pairingDHKeyCheck(let value):
            writer.append(value)
        case .pairingFailed(let reason):
            writer.append(reason.rawValue)
        case .centralIdentification(let diversifier, let random):
            writer.append(diversifier)
            writer.append(random)
        case .identityAddressInformation(let address):
            writer.appendTyped(address)
        case .securityRequest(let requirements):
            writer.append(requirements.intersection(.known).rawValue)
        case .pairingPublicKey(let key):
            for coordinate in [key.x, key.y] {
                writer.append(coordinate.low)
                writer.append(coordinate.high)
            }
        case .pairingKeypressNotification(let key):
            writer.append(key.rawValue)
        }
    }

    var code: SecurityManagerCode {
        switch self {
        case .pairingRequest: .pairingRequest
        case .pairingResponse: .pairingResponse
        case .pairingConfirm: .pairingConfirm
        case .pairingRandom: .pairingRandom
        case .pairingFailed: .pairingFailed
        case .encryptionInformation: .encryptionInformation
        case .centralIdentification: .centralIdentification
        case .identityInformation: .identityInformation
        case .identityAddressInformation: .identityAddressInformation
        case .signingInformation: .signingInformation
        case .securityRequest: .securityRequest
        case .pairingPublicKey: .pairingPublicKey
        case .pairingDHKeyCheck: .pairingDHKeyCheck
        case .pairingKeypressNotification: .pairingKeypressNotification
        }
    }
}

extension PairingFeatures {
    /// The six octets after the code, the first one least significant.
    var octets: UInt64 {
        UInt64(ioCapability.rawValue) | (hasOutOfBandData ? 1 : 0) << 8
            | UInt64(requirements.intersection(.known).rawValue) << 16 | UInt64(maximumKeySize) << 24
            | UInt64(initiatorKeys.intersection(.known).rawValue) << 32
            | UInt64(responderKeys.intersection(.known).rawValue) << 40
    }
}

extension PairingFailure {
    /// The answer to bytes that are not a valid PDU (Vol 3, Part H, 3.3 and 3.5.5).
    init(_ failure: DecodingFailure) {
        switch failure.reason {
        case .unknownCode: self = .commandNotSupported
        case .truncated, .trailingBytes, .invalidLength, .invalidValue: self = .invalidParameters
        }
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    fileprivate mutating func readUInt128() throws(DecodingFailure) -> UInt128 {
        let low = try readUInt64()
        return UInt128(try readUInt64()) << 64 | UInt128(low)
    }

    @_lifetime(self: copy self)
    fileprivate mutating func readFieldElement() throws(DecodingFailure) -> FieldElement {
        let low = try readUInt128()
        return FieldElement(high: try readUInt128(), low: low)
    }

    @_lifetime(self: copy self)
    fileprivate mutating func readFeatures() throws(DecodingFailure) -> PairingFeatures {
        guard let ioCapability = IOCapability(rawValue: try readUInt8()) else {
            throw DecodingFailure(.invalidValue, at: offset &- 1)
        }
        let outOfBand = try readUInt8()
        guard outOfBand <= 1 else { throw DecodingFailure(.invalidValue, at: offset &- 1) }
        let requirements = AuthenticationRequirements(rawValue: try readUInt8()).intersection(.known)
        let keySize = try readUInt8()
        let initiatorKeys = KeyDistribution(rawValue: try readUInt8()).intersection(.known)
        return PairingFeatures(
            ioCapability: ioCapability, hasOutOfBandData: outOfBand == 1, requirements: requirements,
            maximumKeySize: keySize, initiatorKeys: initiatorKeys,
            responderKeys: KeyDistribution(rawValue: try readUInt8()).intersection(.known))
    }
}
