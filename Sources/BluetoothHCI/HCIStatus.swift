import BluetoothBase

/// The outcome of a command, or the reason a link ended: an error code (Core 5.4, Vol 1, Part F, 1.3).
///
/// Open, because a controller may send a code newer than this list.
public struct HCIStatus: RawRepresentable, Hashable, Error, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable
    public var isSuccess: Bool { rawValue == 0 }

    public static let success = HCIStatus(rawValue: 0x00)
    public static let unknownCommand = HCIStatus(rawValue: 0x01)
    public static let unknownConnectionIdentifier = HCIStatus(rawValue: 0x02)
    public static let hardwareFailure = HCIStatus(rawValue: 0x03)
    public static let pageTimeout = HCIStatus(rawValue: 0x04)
    public static let authenticationFailure = HCIStatus(rawValue: 0x05)
    public static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    public static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    public static let synchronousConnectionLimitExceeded = HCIStatus(rawValue: 0x0A)
    public static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    public static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    public static let rejectedLimitedResources = HCIStatus(rawValue: 0x0D)
    public static let rejectedSecurityReasons = HCIStatus(rawValue: 0x0E)
    public static let rejectedUnacceptableAddress = HCIStatus(rawValue: 0x0F)
    public static let connectionAcceptTimeoutExceeded = HCIStatus(rawValue: 0x10)
    public static let unsupportedFeatureOrParameterValue = HCIStatus(rawValue: 0x11)
    public static let invalidCommandParameters = HCIStatus(rawValue: 0x12)
    public static let remoteUserTerminatedConnection = HCIStatus(rawValue: 0x13)
    public static let remoteDeviceLowResources = HCIStatus(rawValue: 0x14)
    public static let remoteDevicePowerOff = HCIStatus(rawValue: 0x15)
    public static let connectionTerminatedByLocalHost = HCIStatus(rawValue: 0x16)
    public static let repeatedAttempts = HCIStatus(rawValue: 0x17)
    public static let pairingNotAllowed = HCIStatus(rawValue: 0x18)
    public static let unknownLMPPDU = HCIStatus(rawValue: 0x19)
    public static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
    public static let scoOffsetRejected = HCIStatus(rawValue: 0x1B)
    public static let scoIntervalRejected = HCIStatus(rawValue: 0x1C)
    public static let scoAirModeRejected = HCIStatus(rawValue: 0x1D)
    public static let invalidLLParameters = HCIStatus(rawValue: 0x1E)
    public static let unspecifiedError = HCIStatus(rawValue: 0x1F)
    public static let unsupportedLLParameterValue = HCIStatus(rawValue: 0x20)
    public static let roleChangeNotAllowed = HCIStatus(rawValue: 0x21)
    public static let llResponseTimeout = HCIStatus(rawValue: 0x22)
    public static let llProcedureCollision = HCIStatus(rawValue: 0x23)
    public static let lmpPDUNotAllowed = HCIStatus(rawValue: 0x24)
    public static let encryptionModeNotAcceptable = HCIStatus(rawValue: 0x25)
    public static let linkKeyCannotBeChanged = HCIStatus(rawValue: 0x26)
    public static let requestedQoSNotSupported = HCIStatus(rawValue: 0x27)
    public static let instantPassed = HCIStatus(rawValue: 0x28)
    public static let pairingWithUnitKeyNotSupported = HCIStatus(rawValue: 0x29)
    public static let differentTransactionCollision = HCIStatus(rawValue: 0x2A)
    public static let qosUnacceptableParameter = HCIStatus(rawValue: 0x2C)
    public static let qosRejected = HCIStatus(rawValue: 0x2D)
    public static let channelClassificationNotSupported = HCIStatus(rawValue: 0x2E)
    public static let insufficientSecurity = HCIStatus(rawValue: 0x2F)
    public static let parameterOutOfMandatoryRange = HCIStatus(rawValue: 0x30)
    public static let roleSwitchPending = HCIStatus(rawValue: 0x32)
    public static let reservedSlotViolation = HCIStatus(rawValue: 0x34)
    public static let roleSwitchFailed = HCIStatus(rawValue: 0x35)
    public static let extendedInquiryResponseTooLarge = HCIStatus(rawValue: 0x36)
    public static let secureSimplePairingNotSupportedByHost = HCIStatus(rawValue: 0x37)
    public static let hostBusyPairing = HCIStatus(rawValue: 0x38)
    public static let rejectedNoSuitableChannel = HCIStatus(rawValue: 0x39)
    public static let controllerBusy = HCIStatus(rawValue: 0x3A)
    public static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    public static let advertisingTimeout = HCIStatus(rawValue: 0x3C)
    public static let micFailure = HCIStatus(rawValue: 0x3D)
    public static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3E)
    public static let clockAdjustmentRejected = HCIStatus(rawValue: 0x40)
    public static let type0SubmapNotDefined = HCIStatus(rawValue: 0x41)
    public static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    public static let limitReached = HCIStatus(rawValue: 0x43)
    public static let operationCancelledByHost = HCIStatus(rawValue: 0x44)
    public static let packetTooLong = HCIStatus(rawValue: 0x45)
    public static let tooLate = HCIStatus(rawValue: 0x46)
    public static let tooEarly = HCIStatus(rawValue: 0x47)
}

extension HCIStatus: HCIParameter {}
