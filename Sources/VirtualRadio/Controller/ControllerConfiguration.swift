import BluetoothBase
import BluetoothCrypto
import BluetoothHCI

/// The fixed properties of a virtual controller, which its host can only read.
///
/// The defaults describe a common LE-only controller of version 5.4 without extended advertising. Set
/// `hasExtendedAdvertising` to add it.
public struct ControllerConfiguration: Sendable {
    /// The public device address; zero if the controller has none.
    public var publicAddress: DeviceAddress
    /// The version of HCI and of the link layer.
    public var version = CoreVersion.v54
    /// The subversion of both, assigned by the manufacturer.
    public var subversion: UInt16 = 0
    /// The company identifier of the manufacturer; 0xFFFF is reserved for tests.
    public var companyIdentifier: UInt16 = 0xFFFF
    /// The LE features the controller reports (Core 5.4, Vol 6, Part B, 4.6). LL Privacy follows from `hasPrivacy`.
    public var features: LEFeatures = .standard
    /// Commands that this controller does not support although the virtual controller implements them.
    public var unsupportedCommands: [HCIOpcode] = []

    /// The size of one buffer for data from the host, in octets.
    public var aclDataLength: UInt16 = 251
    /// The number of buffers for data from the host.
    public var aclBufferCount: UInt8 = 8
    /// Makes LE Read Buffer Size return zeros, like controllers whose LE links share the BR/EDR buffers (Vol 4, Part E,
    /// 7.8.2).
    public var sharesBuffersWithBREDR = false

    /// Whether the controller supports host flow control (Vol 4, Part E, 4.2). If not, it does not support the commands
    /// for it.
    public var hasHostFlowControl = true

    /// The maximum number of simultaneous connections.
    public var maximumConnections = 16
    /// The number of devices the filter accept list holds.
    public var filterAcceptListSize: UInt8 = 16
    /// Whether the controller generates and resolves private addresses (LL Privacy). Requires `aesEncrypt`.
    public var hasPrivacy = true
    /// The number of devices the resolving list holds.
    public var resolvingListSize: UInt8 = 8
    /// The number of advertisers the duplicate filter remembers.
    public var duplicateFilterSize = 64
    /// Whether the controller supports LE Coded and the extended commands for advertising, scanning and connecting, in
    /// addition to the legacy commands.
    public var hasExtendedAdvertising = false
    /// The number of advertising sets the controller supports, at most 16.
    public var maximumAdvertisingSets: UInt8 = 8
    /// The maximum length of a set's advertising data, 31 to 1650 octets.
    public var maximumAdvertisingDataLength: UInt16 = 1650
    /// Whether the controller supports periodic advertising, with responses, and Periodic Advertising Sync Transfer.
    /// Requires `hasExtendedAdvertising`.
    public var hasPeriodicAdvertising = false
    /// The maximum number of periodic advertising trains the controller is synchronized to at once, at most 16.
    public var maximumPeriodicSyncs: UInt8 = 4
    /// The number of advertising sets the Periodic Advertiser List holds.
    public var periodicAdvertiserListSize: UInt8 = 8
    /// Whether the controller can scan while it initiates a connection. Some controllers reject either during the
    /// other.
    public var scansWhileConnecting = true
    /// Whether a new link gets the lowest free handle. Some controllers continue with the handle after the last one.
    public var reusesHandles = true
    /// The number of data exchanges that fit into one connection event, regardless of its length.
    public var maximumExchangesPerEvent = Int.max
    /// The number of packets that may be pending for the host before the controller stops reporting advertising and
    /// refuses data from the air.
    public var maximumWaitingPackets = 256

    /// `Num_HCI_Command_Packets` in command responses.
    public var commandCredits: UInt8 = 1
    /// The time the controller takes to answer a command.
    public var responseDelay: Duration = .zero

    /// The maximum transmit power, in dBm, which is also the initial value; see `Air.setTransmitPower`.
    public var transmitPower: Int8 = 0
    /// The weakest signal the controller receives, in dBm.
    public var sensitivity: Int8 = -95

    /// AES-128: encrypts one block. If nil, the controller does not support LE Encrypt. By default it is nil only if
    /// `LibraryToolbox` cannot be used.
    public var aesEncrypt: (@Sendable (_ key: UInt128, _ plaintext: UInt128) -> UInt128)? =
        LibraryToolbox.unavailability == nil ? AESBlockCipher.encrypt : nil

    var resolvesAddresses: Bool { hasPrivacy && aesEncrypt != nil }

    /// The features that LE Read Local Supported Features returns.
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

    /// The features exchanged with peers, without those that concern only the host.
    var exchangedFeatures: LEFeatures { advertisesPeriodically ? features.union(Self.transfer) : features }

    /// Whether the controller supports a PHY for advertising.
    func receives(_ phy: LEPHY) -> Bool {
        switch phy {
        case .le1M: true
        case .le2M: reportedFeatures.contains(.le2MPHY)
        case .leCoded: reportedFeatures.contains(.leCodedPHY)
        default: false
        }
    }

    /// Creates the configuration of a controller with a public address.
    public init(publicAddress: DeviceAddress) {
        self.publicAddress = publicAddress
    }
}

extension LEFeatures {
    /// Power control and path loss monitoring, which the virtual link layer also implements.
    public static let power: LEFeatures = [.powerControlRequest, .powerControlRequestCopy, .pathLossMonitoring]

    /// The features of most controllers, as far as the virtual link layer implements them.
    public static let standard: LEFeatures = [
        .encryption, .connectionParametersRequest, .extendedRejectIndication, .peripheralInitiatedFeaturesExchange,
        .dataPacketLengthExtension, .le2MPHY,
    ]
}
