import BluetoothBase
import BluetoothHCI

/// The fixed properties of a virtual controller: everything its host can only read.
///
/// The defaults describe a common LE-only controller of version 5.4 without extended advertising; `hasExtendedAdvertising` adds
/// that.
public struct ControllerConfiguration: Sendable {
    /// The public device address; zero for a controller that has none.
    public var publicAddress: DeviceAddress
    /// The version of HCI and of the link layer.
    public var version = CoreVersion.v54
    /// The subversion of both, assigned by the manufacturer.
    public var subversion: UInt16 = 0
    /// The company identifier of the manufacturer; 0xFFFF is reserved for tests.
    public var companyIdentifier: UInt16 = 0xFFFF
    /// The LE features it reports (Core 5.4, Vol 6, Part B, 4.6). LL Privacy follows from `hasPrivacy`.
    public var features: LEFeatures = .standard
    /// Commands it does not support although the virtual controller implements them.
    public var unsupportedCommands: [HCIOpcode] = []

    /// The size of one buffer for data from the host, in bytes.
    public var aclDataLength: UInt16 = 251
    /// How many such buffers there are.
    public var aclBufferCount: UInt8 = 8
    /// Makes LE Read Buffer Size return zeros, like controllers whose LE links share the BR/EDR buffers (Vol 4, Part E,
    /// 7.8.2).
    public var sharesBuffersWithBREDR = false

    /// Whether the host can hold data from the controller back (Vol 4, Part E, 4.2). Without it the controller does not know
    /// the commands for that.
    public var hasHostFlowControl = true

    /// How many connections it holds at once.
    public var maximumConnections = 16
    /// How many devices the filter accept list holds.
    public var filterAcceptListSize: UInt8 = 16
    /// Whether it makes and resolves private addresses (LL Privacy). Without `aesEncrypt` it never does.
    public var hasPrivacy = true
    /// How many devices the resolving list holds.
    public var resolvingListSize: UInt8 = 8
    /// How many advertisers the duplicate filter remembers.
    public var duplicateFilterSize = 64
    /// Whether it has the extended commands for advertising, scanning and connecting, beside the legacy ones, and LE Coded.
    public var hasExtendedAdvertising = false
    /// How many advertising sets it has at once, at most 16.
    public var maximumAdvertisingSets: UInt8 = 8
    /// How many octets of advertising data a set takes, 31 to 1650.
    public var maximumAdvertisingDataLength: UInt16 = 1650
    /// Whether it has periodic advertising, with responses, and passes on what it is synchronized to; only with
    /// `hasExtendedAdvertising`.
    public var hasPeriodicAdvertising = false
    /// How much periodic advertising it is synchronized to at once, at most 16.
    public var maximumPeriodicSyncs: UInt8 = 4
    /// How many advertising sets the Periodic Advertiser List holds.
    public var periodicAdvertiserListSize: UInt8 = 8
    /// Whether it scans while it initiates a connection. Some controllers refuse one during the other.
    public var scansWhileConnecting = true
    /// Whether a link gets the first handle that is free. Some controllers go on with the one behind the last.
    public var reusesHandles = true
    /// How many exchanges of data fit into one connection event, regardless of its length.
    public var maximumExchangesPerEvent = Int.max
    /// How many packets may be pending for its host before it stops reporting advertising and refuses data from the
    /// air.
    public var maximumWaitingPackets = 256

    /// `Num_HCI_Command_Packets` in its answers.
    public var commandCredits: UInt8 = 1
    /// How long it takes to answer a command.
    public var responseDelay: Duration = .zero

    /// The most transmit power, in dBm, with which it begins; see `Air.setTransmitPower`.
    public var transmitPower: Int8 = 0
    /// The weakest signal it receives, in dBm.
    public var sensitivity: Int8 = -95

    /// AES-128: encrypts one block. If nil, the controller does not support LE Encrypt.
    public var aesEncrypt: (@Sendable (_ key: UInt128, _ plaintext: UInt128) -> UInt128)? = AESBlockCipher.encrypt

    var resolvesAddresses: Bool { hasPrivacy && aesEncrypt != nil }

    /// What LE Read Local Supported Features returns.
    var reportedFeatures: LEFeatures {
        var reported = features
        if resolvesAddresses { reported.insert(.privacy) }
        if hasExtendedAdvertising { reported.formUnion([.extendedAdvertising, .leCodedPHY]) }
        if advertisesPeriodically {
            reported.formUnion([
                .periodicAdvertising, .periodicAdvertisingADI, .periodicAdvertisingWithResponsesAdvertiser,
                .periodicAdvertisingWithResponsesScanner,
            ])
            reported.formUnion(Self.transfer)
        }
        return reported
    }

    private static let transfer: LEFeatures = [
        .periodicAdvertisingSyncTransferSender, .periodicAdvertisingSyncTransferRecipient,
    ]

    var advertisesPeriodically: Bool { hasExtendedAdvertising && hasPeriodicAdvertising }

    /// What it tells its peers: the features that concern only its host are left out.
    var exchangedFeatures: LEFeatures { advertisesPeriodically ? features.union(Self.transfer) : features }

    /// Whether it has a PHY for advertising.
    func receives(_ phy: LEPHY) -> Bool {
        switch phy {
        case .le1M: true
        case .le2M: reportedFeatures.contains(.le2MPHY)
        case .leCoded: reportedFeatures.contains(.leCodedPHY)
        default: false
        }
    }

    /// A controller with a public address.
    public init(publicAddress: DeviceAddress) {
        self.publicAddress = publicAddress
    }
}

extension LEFeatures {
    /// Power control and path loss monitoring, which the virtual link layer implements, too.
    public static let power: LEFeatures = [.powerControlRequest, .powerControlRequestCopy, .pathLossMonitoring]

    /// What the virtual link layer implements of most controllers.
    public static let standard: LEFeatures = [
        .encryption, .connectionParametersRequest, .extendedRejectIndication, .peripheralInitiatedFeaturesExchange,
        .dataPacketLengthExtension, .le2MPHY,
    ]
}
