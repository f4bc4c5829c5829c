/// The result of a request for credit-based channels (Core 5.4, Vol 3, Part A, 4.23 and 4.26).
public struct CreditBasedConnectionResult: RawRepresentable, Hashable, Sendable {
    /// The Result field of the response.
    public var rawValue: UInt16

    /// Creates a result from its number. Reserved values are accepted.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// All requested channels were opened.
    public static let successful = Self(rawValue: 0x0000)
    /// Refused: the SPSM is not supported.
    public static let spsmNotSupported = Self(rawValue: 0x0002)
    /// Refused, in whole or in part: no resources are left.
    public static let noResourcesAvailable = Self(rawValue: 0x0004)
    /// Refused: the service requires authentication.
    public static let insufficientAuthentication = Self(rawValue: 0x0005)
    /// Refused: the service requires authorization.
    public static let insufficientAuthorization = Self(rawValue: 0x0006)
    /// Refused: the key that encrypts the link is too short.
    public static let encryptionKeySizeTooShort = Self(rawValue: 0x0007)
    /// Refused: the service requires encryption.
    public static let insufficientEncryption = Self(rawValue: 0x0008)
    /// Refused, in whole or in part: a source channel identifier is out of the dynamic range.
    public static let invalidSourceCID = Self(rawValue: 0x0009)
    /// Refused, in whole or in part: a source channel identifier is in use.
    public static let sourceCIDAlreadyAllocated = Self(rawValue: 0x000A)
    /// Refused: the peer does not accept the parameters.
    public static let unacceptableParameters = Self(rawValue: 0x000B)
    /// Refused: a parameter is invalid. Like the pending results, only used for enhanced credit-based channels.
    public static let invalidParameters = Self(rawValue: 0x000C)
    /// The answer follows in a later response, for an unspecified reason.
    public static let pending = Self(rawValue: 0x000D)
    /// The answer follows in a later response, after authentication.
    public static let pendingAuthentication = Self(rawValue: 0x000E)
    /// The answer follows in a later response, after authorization.
    public static let pendingAuthorization = Self(rawValue: 0x000F)
}

/// The result of a request to reconfigure credit-based channels (Core 5.4, Vol 3, Part A, 4.28).
public struct CreditBasedReconfigureResult: RawRepresentable, Hashable, Sendable {
    /// The Result field of the response.
    public var rawValue: UInt16

    /// Creates a result from its number. Reserved values are accepted.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The channels use the requested MTU and MPS.
    public static let successful = Self(rawValue: 0x0000)
    /// Refused: the MTU of a channel must not become smaller.
    public static let mtuReductionNotAllowed = Self(rawValue: 0x0001)
    /// Refused: the MPS may become smaller on only one channel at a time.
    public static let mpsReductionNotAllowed = Self(rawValue: 0x0002)
    /// Refused: an endpoint in the request is not that of an open channel.
    public static let invalidDestinationCID = Self(rawValue: 0x0003)
    /// Refused: another parameter is not acceptable.
    public static let otherUnacceptableParameters = Self(rawValue: 0x0004)
}
