import BluetoothBase

/// LE Add Device To Resolving List (Core 5.4, Vol 4, Part E, 7.8.38).
public struct LEAddDeviceToResolvingList: HCICommand {
    public static let opcode = HCIOpcode.leAddDeviceToResolvingList
    /// The peer's identity address.
    public var peerIdentityAddress: DeviceAddress
    /// The peer's Identity Resolving Key; 0 if it has none.
    public var peerIRK: UInt128
    /// The Identity Resolving Key to use towards this peer; 0 for none.
    public var localIRK: UInt128

    public init(peerIdentityAddress: DeviceAddress, peerIRK: UInt128, localIRK: UInt128) {
        self.peerIdentityAddress = peerIdentityAddress
        self.peerIRK = peerIRK
        self.localIRK = localIRK
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (peerIdentityAddress, peerIRK, localIRK) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: peerIdentityAddress, peerIRK, localIRK)
    }
}

/// LE Remove Device From Resolving List (Core 5.4, Vol 4, Part E, 7.8.39).
public struct LERemoveDeviceFromResolvingList: HCICommand {
    public static let opcode = HCIOpcode.leRemoveDeviceFromResolvingList
    /// The peer's identity address.
    public var peerIdentityAddress: DeviceAddress

    public init(peerIdentityAddress: DeviceAddress) {
        self.peerIdentityAddress = peerIdentityAddress
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        peerIdentityAddress = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: peerIdentityAddress)
    }
}

/// LE Clear Resolving List (Core 5.4, Vol 4, Part E, 7.8.40).
public struct LEClearResolvingList: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leClearResolvingList
    public init() {}
}

/// LE Read Resolving List Size (Core 5.4, Vol 4, Part E, 7.8.41).
public struct LEReadResolvingListSize: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadResolvingListSize
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// How many entries the list can hold.
        public var size: UInt8

        public init(size: UInt8) {
            self.size = size
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            size = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: size)
        }
    }
}

/// LE Set Address Resolution Enable (Core 5.4, Vol 4, Part E, 7.8.44).
public struct LESetAddressResolutionEnable: HCICommand {
    public static let opcode = HCIOpcode.leSetAddressResolutionEnable
    /// Whether the controller resolves and generates private addresses.
    public var isEnabled: Bool

    public init(isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        isEnabled = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isEnabled)
    }
}

/// LE Set Resolvable Private Address Timeout (Core 5.4, Vol 4, Part E, 7.8.45).
public struct LESetResolvablePrivateAddressTimeout: HCICommand {
    public static let opcode = HCIOpcode.leSetResolvablePrivateAddressTimeout
    /// How long the controller uses a resolvable private address, in seconds, 1 to 3600.
    public var seconds: UInt16

    public init(seconds: UInt16 = 900) {
        self.seconds = seconds
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        seconds = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: seconds)
    }
}

/// LE Set Privacy Mode (Core 5.4, Vol 4, Part E, 7.8.77).
public struct LESetPrivacyMode: HCICommand {
    public static let opcode = HCIOpcode.leSetPrivacyMode
    /// The peer's identity address.
    public var peerIdentityAddress: DeviceAddress
    /// The privacy mode for this peer.
    public var mode: Mode

    public init(peerIdentityAddress: DeviceAddress, mode: Mode) {
        self.peerIdentityAddress = peerIdentityAddress
        self.mode = mode
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (peerIdentityAddress, mode) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: peerIdentityAddress, mode)
    }
}

extension LESetPrivacyMode {
    /// Whether packets from a peer that uses private addresses are also accepted from its identity address.
    public enum Mode: UInt8, Sendable {
        /// Only private addresses are accepted from the peer, if it distributed an IRK. The default.
        case network = 0
        /// The peer's identity address is accepted as well.
        case device = 1
    }
}

extension LESetPrivacyMode.Mode: HCIParameter {}
