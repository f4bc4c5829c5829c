import BluetoothBase
import BluetoothHCI

/// What a virtual controller is built like: everything its host can only read.
///
/// The defaults describe a common LE-only controller of version 5.4 without extended advertising.
public struct ControllerConfiguration: Sendable {
    /// The public device address; all zero bits for a controller that has none.
    public var publicAddress: DeviceAddress
    /// The version of HCI and of the link layer.
    public var version = CoreVersion.v54
    /// The subversion of both, the manufacturer's to choose.
    public var subversion: UInt16 = 0
    /// Who made it; 0xFFFF is what the Bluetooth SIG reserves for tests.
    public var companyIdentifier: UInt16 = 0xFFFF
    /// The LE features it claims (Core 5.4, Vol 6, Part B, 4.6).
    public var features: LEFeatures = .standard
    /// Commands it does not know although the virtual controller could answer them.
    public var unsupportedCommands: [HCIOpcode] = []

    /// How many bytes one buffer for data from the host holds.
    public var aclDataLength: UInt16 = 251
    /// How many such buffers there are.
    public var aclBufferCount: UInt8 = 8
    /// Makes LE Read Buffer Size answer zeros, as controllers do whose LE links share the BR/EDR buffers
    /// (Vol 4, Part E, 7.8.2).
    public var sharesBuffersWithBREDR = false

    /// Whether the host can hold data from the controller back (Vol 4, Part E, 4.2). Without it the controller does not know
    /// the commands for that.
    public var hasHostFlowControl = true

    /// How many connections it holds at once.
    public var maximumConnections = 16
    /// How many devices the filter accept list holds.
    public var filterAcceptListSize: UInt8 = 16
    /// How many devices the resolving list holds.
    public var resolvingListSize: UInt8 = 8
    /// How many advertisers the duplicate filter remembers.
    public var duplicateFilterSize = 64
    /// How many exchanges of data it fits into one connection event, however long that is.
    public var maximumExchangesPerEvent = Int.max
    /// How many packets may wait for its host before it reports no more advertising and refuses data from the air.
    public var maximumWaitingPackets = 256

    /// `Num_HCI_Command_Packets` in its answers.
    public var commandCredits: UInt8 = 1
    /// How long it takes to answer a command.
    public var responseDelay: Duration = .zero

    /// Transmit power in dBm.
    public var transmitPower: Int8 = 0
    /// The weakest signal it receives, in dBm.
    public var sensitivity: Int8 = -95

    /// AES-128: encrypts one block. With nil the controller does not know LE Encrypt.
    public var aesEncrypt: (@Sendable (_ key: UInt128, _ plaintext: UInt128) -> UInt128)? = AESBlockCipher.encrypt

    /// A controller with a public address.
    public init(publicAddress: DeviceAddress) {
        self.publicAddress = publicAddress
    }
}

extension LEFeatures {
    /// Everything the virtual link layer implements.
    public static let standard: LEFeatures = [
        .encryption, .connectionParametersRequest, .extendedRejectIndication, .peripheralInitiatedFeaturesExchange,
        .dataPacketLengthExtension, .le2MPHY,
    ]
}
