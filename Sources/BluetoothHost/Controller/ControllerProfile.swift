import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// What the host has learned about a controller so far, during bring-up.
struct ControllerProfile: Hashable, Sendable {
    private(set) var version: ReadLocalVersionInformation.ReturnParameters?
    /// Until the controller has reported its supported commands, the host uses only those that every LE controller must
    /// support.
    private(set) var commands = SupportedCommands()
    private(set) var features: LEFeatures = []
    private(set) var hasClassicRadio = false
    private(set) var supportsLowEnergy = true
    private(set) var publicAddress = DeviceAddress(0, kind: .public)
    private(set) var aclDataLength = 0
    private(set) var aclBufferCount = 0
    /// Whether the controller has accepted the size of the host's buffers.
    private(set) var knowsHostBuffers = false
    /// Whether the controller sends data only while the host has room for it.
    private(set) var controlsReceiving = false
    private(set) var filterAcceptListSize = 0
    private(set) var resolvingListSize = 0
    private(set) var maximumAdvertisingDataLength = 31
    private(set) var advertisingSetCount = 1
    private(set) var maximumDataLength = LEDataLength(octets: 27, time: 328)

    /// Whether the controller supports the commands for controller-to-host flow control (Core 5.4, Vol 4, Part E, 4.2).
    var supportsReceiveFlowControl: Bool {
        commands.contains(.setControllerToHostFlowControl) && commands.contains(.hostBufferSize)
            && commands.contains(.hostNumberOfCompletedPackets)
            && !ControllerQuirks(version).contains(.endsAtFlowControl)
    }

    /// Whether the controller can advertise, scan and connect without the legacy commands.
    var supportsExtendedAdvertising: Bool { features.contains(.extendedAdvertising) && hasExtendedCommands }

    /// Whether the controller supports all the extended commands. When the host sets the event mask, the features are
    /// not known yet.
    var hasExtendedCommands: Bool { Self.extendedCommands.allSatisfy(commands.contains) }

    private static let extendedCommands: [HCIOpcode] = [
        .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
        .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
        .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leSetExtendedScanParameters,
        .leSetExtendedScanEnable, .leExtendedCreateConnection,
    ]

    /// Whether the controller can store the keys of bonds, and resolve private addresses itself.
    var supportsPrivacy: Bool {
        features.contains(.privacy) && commands.contains(.leReadResolvingListSize)
            && commands.contains(.leAddDeviceToResolvingList) && commands.contains(.leRemoveDeviceFromResolvingList)
            && commands.contains(.leSetAddressResolutionEnable)
    }

    var hasBuffers: Bool { aclDataLength > 0 && aclBufferCount > 0 }

    /// Records the return parameters of a step's command.
    mutating func learn(
        from completion: borrowing CommandCompletion, of step: BringUpStep
    ) throws(DecodingFailure) {
        switch step {
        case .readLocalVersionInformation:
            version = try completion.decodeReturnParameters(of: ReadLocalVersionInformation.self)
        case .readLocalSupportedCommands:
            commands = try completion.decodeReturnParameters(of: ReadLocalSupportedCommands.self).supportedCommands
        case .readLocalSupportedFeatures:
            let features = try completion.decodeReturnParameters(of: ReadLocalSupportedFeatures.self).features
            supportsLowEnergy = features.contains(.leSupported)
            hasClassicRadio = !features.contains(.brEDRNotSupported)
        case .readBDADDR:
            publicAddress = try completion.decodeReturnParameters(of: ReadBDADDR.self).address
        case .leReadLocalSupportedFeatures:
            features = try completion.decodeReturnParameters(of: LEReadLocalSupportedFeatures.self).features
        case .leReadBufferSizeV2:
            let sizes = try completion.decodeReturnParameters(of: LEReadBufferSizeV2.self)
            setBuffers(length: sizes.aclDataPacketLength, count: UInt16(sizes.totalACLDataPackets))
        case .leReadBufferSize:
            let sizes = try completion.decodeReturnParameters(of: LEReadBufferSize.self)
            setBuffers(length: sizes.aclDataPacketLength, count: UInt16(sizes.totalACLDataPackets))
        case .readBufferSize:
            let sizes = try completion.decodeReturnParameters(of: ReadBufferSize.self)
            setBuffers(length: sizes.aclDataPacketLength, count: sizes.totalACLDataPackets)
        case .hostBufferSize: knowsHostBuffers = true
        case .setControllerToHostFlowControl: controlsReceiving = true
        case .leReadFilterAcceptListSize:
            filterAcceptListSize = Int(try completion.decodeReturnParameters(of: LEReadFilterAcceptListSize.self).size)
        case .leReadResolvingListSize:
            resolvingListSize = Int(try completion.decodeReturnParameters(of: LEReadResolvingListSize.self).size)
        case .leReadMaximumAdvertisingDataLength:
            let length = try completion.decodeReturnParameters(of: LEReadMaximumAdvertisingDataLength.self).length
            maximumAdvertisingDataLength = max(31, min(Int(length), AdvertisingReassembly.maximumLength))
        case .leReadNumberOfSupportedAdvertisingSets:
            let count = try completion.decodeReturnParameters(of: LEReadNumberOfSupportedAdvertisingSets.self).count
            advertisingSetCount = max(1, Int(count))
        case .leReadMaximumDataLength:
            maximumDataLength = try completion.decodeReturnParameters(of: LEReadMaximumDataLength.self).transmit
        case .reset, .setEventMask, .writeLEHostSupport, .leSetEventMask, .leWriteSuggestedDefaultDataLength,
            .leSetRandomAddress:
            break
        }
    }

    /// Length and count are used only if both are nonzero: one preset of a well-known virtual controller reports a
    /// length of 0.
    private mutating func setBuffers(length: UInt16, count: UInt16) {
        guard length > 0, count > 0 else { return }
        aclDataLength = Int(length)
        aclBufferCount = Int(count)
    }

    /// The host's address, based on the controller's public address as far as it is known.
    func ownAddress(_ wanted: HostConfiguration.OwnAddress, _ staticAddress: DeviceAddress) -> DeviceAddress {
        switch wanted {
        case .public: publicAddress
        case .staticRandom(let address): DeviceAddress(address.value, kind: .random)
        case .automatic: publicAddress.value == 0 ? staticAddress : publicAddress
        }
    }

    /// A static random address derived from the seed (Core 5.4, Vol 6, Part B, 1.3.2.1: the two most significant bits
    /// are ones, the rest is neither all zeros nor all ones).
    static func staticAddress(seed: UInt64) -> DeviceAddress {
        var generator = SeededGenerator(seed: seed)
        var bits: UInt64
        repeat { bits = generator.next() & 0x3FFF_FFFF_FFFF } while bits == 0 || bits == 0x3FFF_FFFF_FFFF
        return DeviceAddress(bits | 0xC000_0000_0000, kind: .random)
    }
}
