/// The LE features of a controller or of a peer (Core 5.4, Vol 6, Part B, 4.6).
public struct LEFeatures: OptionSet, Hashable, Sendable {
    /// The LE_Features parameter, in which a set bit marks a supported feature.
    public var rawValue: UInt64

    /// Creates a set from the parameter. Bits that are not listed here are kept.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// LE Encryption.
    public static let encryption = LEFeatures(rawValue: 1 << 0)
    /// Connection Parameters Request procedure.
    public static let connectionParametersRequest = LEFeatures(rawValue: 1 << 1)
    /// Extended Reject Indication.
    public static let extendedRejectIndication = LEFeatures(rawValue: 1 << 2)
    /// Peripheral-initiated Features Exchange.
    public static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
    /// LE Ping.
    public static let ping = LEFeatures(rawValue: 1 << 4)
    /// LE Data Packet Length Extension.
    public static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
    /// LL Privacy.
    public static let privacy = LEFeatures(rawValue: 1 << 6)
    /// Extended Scanning Filter Policies.
    public static let extendedScanningFilterPolicies = LEFeatures(rawValue: 1 << 7)
    /// LE 2M PHY.
    public static let le2MPHY = LEFeatures(rawValue: 1 << 8)
    /// LE Coded PHY.
    public static let leCodedPHY = LEFeatures(rawValue: 1 << 11)
    /// LE Extended Advertising.
    public static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
    /// LE Periodic Advertising.
    public static let periodicAdvertising = LEFeatures(rawValue: 1 << 13)
    /// Channel Selection Algorithm #2.
    public static let channelSelectionAlgorithm2 = LEFeatures(rawValue: 1 << 14)
    /// LE Power Class 1.
    public static let powerClass1 = LEFeatures(rawValue: 1 << 15)
    /// Periodic Advertising Sync Transfer, Sender.
    public static let periodicAdvertisingSyncTransferSender = LEFeatures(rawValue: 1 << 24)
    /// Periodic Advertising Sync Transfer, Recipient.
    public static let periodicAdvertisingSyncTransferRecipient = LEFeatures(rawValue: 1 << 25)
    /// Connected Isochronous Stream, Central.
    public static let connectedIsochronousStreamCentral = LEFeatures(rawValue: 1 << 28)
    /// Connected Isochronous Stream, Peripheral.
    public static let connectedIsochronousStreamPeripheral = LEFeatures(rawValue: 1 << 29)
    /// Isochronous Broadcaster.
    public static let isochronousBroadcaster = LEFeatures(rawValue: 1 << 30)
    /// Synchronized Receiver.
    public static let synchronizedReceiver = LEFeatures(rawValue: 1 << 31)
    /// Connected Isochronous Stream (Host Support), set by the host.
    public static let connectedIsochronousStreamHostSupport = LEFeatures(rawValue: 1 << 32)
    /// LE Power Control Request.
    public static let powerControlRequest = LEFeatures(rawValue: 1 << 33)
    /// Also LE Power Control Request: both bits have the same value (Vol 6, Part B, 4.6.30).
    public static let powerControlRequestCopy = LEFeatures(rawValue: 1 << 34)
    /// LE Path Loss Monitoring.
    public static let pathLossMonitoring = LEFeatures(rawValue: 1 << 35)
    /// Periodic Advertising ADI Support.
    public static let periodicAdvertisingADI = LEFeatures(rawValue: 1 << 36)
    /// Connection Subrating.
    public static let connectionSubrating = LEFeatures(rawValue: 1 << 37)
    /// Connection Subrating (Host Support), set by the host.
    public static let connectionSubratingHostSupport = LEFeatures(rawValue: 1 << 38)
    /// Channel Classification.
    public static let channelClassification = LEFeatures(rawValue: 1 << 39)
    /// Periodic Advertising with Responses, Advertiser.
    public static let periodicAdvertisingWithResponsesAdvertiser = LEFeatures(rawValue: 1 << 43)
    /// Periodic Advertising with Responses, Scanner.
    public static let periodicAdvertisingWithResponsesScanner = LEFeatures(rawValue: 1 << 44)
}

/// The LMP features of a controller, page 0 (Core 5.4, Vol 2, Part C, 3.3). Only the two that an LE host needs are
/// defined here.
public struct LMPFeatures: OptionSet, Hashable, Sendable {
    /// The LMP_Features parameter, in which a set bit marks a supported feature.
    public var rawValue: UInt64

    /// Creates a set from the parameter. Bits that are not listed here are kept.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// BR/EDR Not Supported: an LE-only controller.
    public static let brEDRNotSupported = LMPFeatures(rawValue: 1 << 37)
    /// LE Supported (Controller).
    public static let leSupported = LMPFeatures(rawValue: 1 << 38)
}

/// The states and combinations of states that a controller supports (Core 5.4, Vol 4, Part E, 7.8.27).
public struct LEStates: RawRepresentable, Hashable, Sendable {
    /// The LE_States parameter, in which each bit stands for a supported state or combination of states.
    public var rawValue: UInt64

    /// Creates a value from the return parameter. Reserved bits are kept.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension LEFeatures: HCIParameter {}
extension LMPFeatures: HCIParameter {}
extension LEStates: HCIParameter {}
