/// The LE features of a controller or of a peer (Core 5.4, Vol 6, Part B, 4.6).
public struct LEFeatures: OptionSet, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static let encryption = LEFeatures(rawValue: 1 << 0)
    public static let connectionParametersRequest = LEFeatures(rawValue: 1 << 1)
    public static let extendedRejectIndication = LEFeatures(rawValue: 1 << 2)
    public static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
    public static let ping = LEFeatures(rawValue: 1 << 4)
    public static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
    public static let privacy = LEFeatures(rawValue: 1 << 6)
    public static let extendedScanningFilterPolicies = LEFeatures(rawValue: 1 << 7)
    public static let le2MPHY = LEFeatures(rawValue: 1 << 8)
    public static let leCodedPHY = LEFeatures(rawValue: 1 << 11)
    public static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
    public static let periodicAdvertising = LEFeatures(rawValue: 1 << 13)
    public static let channelSelectionAlgorithm2 = LEFeatures(rawValue: 1 << 14)
    public static let powerClass1 = LEFeatures(rawValue: 1 << 15)
    public static let connectedIsochronousStreamCentral = LEFeatures(rawValue: 1 << 28)
    public static let connectedIsochronousStreamPeripheral = LEFeatures(rawValue: 1 << 29)
    public static let isochronousBroadcaster = LEFeatures(rawValue: 1 << 30)
    public static let synchronizedReceiver = LEFeatures(rawValue: 1 << 31)
    public static let connectedIsochronousStreamHostSupport = LEFeatures(rawValue: 1 << 32)
    public static let powerControlRequest = LEFeatures(rawValue: 1 << 33)
    public static let connectionSubrating = LEFeatures(rawValue: 1 << 37)
    public static let connectionSubratingHostSupport = LEFeatures(rawValue: 1 << 38)
    public static let channelClassification = LEFeatures(rawValue: 1 << 39)
}

/// The features of a controller's link manager, page 0 (Core 5.4, Vol 2, Part C, 3.3): a host of LE needs two of them.
public struct LMPFeatures: OptionSet, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static let brEDRNotSupported = LMPFeatures(rawValue: 1 << 37)
    public static let leSupported = LMPFeatures(rawValue: 1 << 38)
}

/// The combinations of states a controller can be in at once (Core 5.4, Vol 4, Part E, 7.8.27).
public struct LEStates: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension LEFeatures: HCIParameter {}
extension LMPFeatures: HCIParameter {}
extension LEStates: HCIParameter {}
