import BluetoothBase

/// LE Add Device To Resolving List (Core 5.4, Vol 4, Part E, 7.8.38).
public struct LEAddDeviceToResolvingList: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0027.
    public static let opcode = HCIOpcode.leAddDeviceToResolvingList
    /// The peer's identity address.
    public var peerIdentityAddress: DeviceAddress
    /// The peer's Identity Resolving Key (IRK); 0 if it has none.
    public var peerIRK: UInt128
    /// The local IRK to use with this peer; 0 for none.
    public var localIRK: UInt128

    /// Creates the command. Pass 0 for a missing IRK.
    public init(peerIdentityAddress: DeviceAddress, peerIRK: UInt128, localIRK: UInt128) {
        self.peerIdentityAddress = peerIdentityAddress
        self.peerIRK = peerIRK
        self.localIRK = localIRK
    }

    /// Decodes the identity address, the peer's IRK and the local IRK, 39 octets. Throws if octets are missing, or if
    /// the address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (peerIdentityAddress, peerIRK, localIRK) = try parameters.read()
    }

    /// Appends the identity address, the peer's IRK and the local IRK, 39 octets. The keys are sent least significant
    /// octet first.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: peerIdentityAddress, peerIRK, localIRK)
    }
}

/// LE Remove Device From Resolving List (Core 5.4, Vol 4, Part E, 7.8.39).
public struct LERemoveDeviceFromResolvingList: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0028.
    public static let opcode = HCIOpcode.leRemoveDeviceFromResolvingList
    /// The peer's identity address.
    public var peerIdentityAddress: DeviceAddress

    /// Creates the command that removes the peer with this identity address.
    public init(peerIdentityAddress: DeviceAddress) {
        self.peerIdentityAddress = peerIdentityAddress
    }

    /// Decodes the identity address, seven octets. Throws if octets are missing, or if the address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        peerIdentityAddress = try parameters.read()
    }

    /// Appends the identity address, seven octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: peerIdentityAddress)
    }
}

/// LE Clear Resolving List (Core 5.4, Vol 4, Part E, 7.8.40).
public struct LEClearResolvingList: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0029.
    public static let opcode = HCIOpcode.leClearResolvingList

    /// Creates the command, which has no parameters.
    public init() {}
}

/// LE Read Resolving List Size (Core 5.4, Vol 4, Part E, 7.8.41).
public struct LEReadResolvingListSize: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x002A.
    public static let opcode = HCIOpcode.leReadResolvingListSize

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The number of entries the list can hold.
        public var size: UInt8

        /// Creates the return parameters from the number of entries that the list can hold.
        public init(size: UInt8) {
            self.size = size
        }

        /// Decodes the size, one octet. Throws if the octet is missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            size = try parameters.read()
        }

        /// Appends the size, one octet.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: size)
        }
    }
}

/// LE Set Address Resolution Enable (Core 5.4, Vol 4, Part E, 7.8.44).
public struct LESetAddressResolutionEnable: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x002D.
    public static let opcode = HCIOpcode.leSetAddressResolutionEnable
    /// Whether the controller resolves and generates private addresses.
    public var isEnabled: Bool

    /// Creates the command that enables or disables address resolution in the controller.
    public init(isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    /// Decodes the flag, one octet. Throws if the octet is missing, or if the flag is neither 0x00 nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        isEnabled = try parameters.read()
    }

    /// Appends the flag, one octet.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isEnabled)
    }
}

/// LE Set Resolvable Private Address Timeout (Core 5.4, Vol 4, Part E, 7.8.45).
public struct LESetResolvablePrivateAddressTimeout: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x002E.
    public static let opcode = HCIOpcode.leSetResolvablePrivateAddressTimeout
    /// The time after which the controller replaces a resolvable private address, in seconds, 1 to 3600.
    public var seconds: UInt16

    /// Creates the command. The default of 900 s is that of the specification.
    public init(seconds: UInt16 = 900) {
        self.seconds = seconds
    }

    /// Decodes the time, two octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        seconds = try parameters.read()
    }

    /// Appends the time, two octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: seconds)
    }
}

/// LE Set Privacy Mode (Core 5.4, Vol 4, Part E, 7.8.77).
public struct LESetPrivacyMode: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x004E.
    public static let opcode = HCIOpcode.leSetPrivacyMode
    /// The peer's identity address.
    public var peerIdentityAddress: DeviceAddress
    /// The privacy mode for this peer.
    public var mode: Mode

    /// Creates the command for a peer, which must be on the resolving list.
    public init(peerIdentityAddress: DeviceAddress, mode: Mode) {
        self.peerIdentityAddress = peerIdentityAddress
        self.mode = mode
    }

    /// Decodes the identity address and the mode, eight octets. Throws if octets are missing, or if the address type or
    /// the mode is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (peerIdentityAddress, mode) = try parameters.read()
    }

    /// Appends the identity address and the mode, eight octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: peerIdentityAddress, mode)
    }
}

extension LESetPrivacyMode {
    /// Whether packets from a peer that uses private addresses are also accepted from its identity address.
    public enum Mode: UInt8, Sendable {
        /// Network privacy mode, the default. If the peer has distributed an IRK, only its private addresses are
        /// accepted.
        case network = 0
        /// Device privacy mode. The peer's identity address is also accepted.
        case device = 1
    }
}

extension LESetPrivacyMode.Mode: HCIParameter {}
