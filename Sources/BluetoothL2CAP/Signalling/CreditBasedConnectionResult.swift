/// The result of a request for credit-based channels (Core 5.4, Vol 3, Part A, 4.23 and 4.26).
public struct CreditBasedConnectionResult: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let successful = Self(rawValue: 0x0000)
    /// Refused: the SPSM is not supported.
    public static let spsmNotSupported = Self(rawValue: 0x0002)
    /// Refused, or refused in part: no resources are left.
    public static let noResourcesAvailable = Self(rawValue: 0x0004)
    public static let insufficientAuthentication = Self(rawValue: 0x0005)
    public static let insufficientAuthorization = Self(rawValue: 0x0006)
    public static let encryptionKeySizeTooShort = Self(rawValue: 0x0007)
    public static let insufficientEncryption = Self(rawValue: 0x0008)
    /// Refused, or refused in part: a source channel identifier is out of the dynamic range.
    public static let invalidSourceCID = Self(rawValue: 0x0009)
    /// Refused, or refused in part: a source channel identifier is in use.
    public static let sourceCIDAlreadyAllocated = Self(rawValue: 0x000A)
    public static let unacceptableParameters = Self(rawValue: 0x000B)
    /// Only in answer to a Credit Based Connection Request, as are the pending results.
    public static let invalidParameters = Self(rawValue: 0x000C)
    public static let pending = Self(rawValue: 0x000D)
    public static let pendingAuthentication = Self(rawValue: 0x000E)
    public static let pendingAuthorization = Self(rawValue: 0x000F)
}

/// The result of a request to reconfigure credit-based channels (Core 5.4, Vol 3, Part A, 4.28).
public struct CreditBasedReconfigureResult: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let successful = Self(rawValue: 0x0000)
    public static let mtuReductionNotAllowed = Self(rawValue: 0x0001)
    /// A smaller MPS is allowed for one channel at a time only.
    public static let mpsReductionNotAllowed = Self(rawValue: 0x0002)
    public static let invalidDestinationCID = Self(rawValue: 0x0003)
    public static let otherUnacceptableParameters = Self(rawValue: 0x0004)
}
