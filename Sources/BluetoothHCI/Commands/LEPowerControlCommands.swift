import BluetoothBase

/// A PHY and its coding, to which a power level applies (Core 5.4, Vol 4, Part E, 7.8.117).
public struct PowerLevelPHY: RawRepresentable, Hashable, Sendable {
    /// The PHY parameter: 1 to 4 are assigned, and all other values are reserved.
    public var rawValue: UInt8

    /// Creates a PHY from the parameter. Reserved values are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE 1M.
    public static let le1M = PowerLevelPHY(rawValue: 1)
    /// LE 2M.
    public static let le2M = PowerLevelPHY(rawValue: 2)
    /// LE Coded with S=8 coding, eight symbols per bit.
    public static let leCodedS8 = PowerLevelPHY(rawValue: 3)
    /// LE Coded with S=2 coding, two symbols per bit.
    public static let leCodedS2 = PowerLevelPHY(rawValue: 4)
}

extension PowerLevelPHY: HCIParameter {}

/// LE Enhanced Read Transmit Power Level (Core 5.4, Vol 4, Part E, 7.8.117).
public struct LEEnhancedReadTransmitPowerLevel: HCICommand {
    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The PHY.
        public var phy: PowerLevelPHY
        /// The current transmit power in dBm; 127 if it is not available.
        public var currentTransmitPowerLevel: Int8
        /// The maximum transmit power in dBm.
        public var maxTransmitPowerLevel: Int8

        /// Creates the return parameters. Both levels are in dBm.
        public init(
            connectionHandle: ConnectionHandle, phy: PowerLevelPHY, currentTransmitPowerLevel: Int8,
            maxTransmitPowerLevel: Int8
        ) {
            self.connectionHandle = connectionHandle
            self.phy = phy
            self.currentTransmitPowerLevel = currentTransmitPowerLevel
            self.maxTransmitPowerLevel = maxTransmitPowerLevel
        }

        /// Decodes five octets of return parameters. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, phy, currentTransmitPowerLevel, maxTransmitPowerLevel) = try parameters.read()
        }

        /// Appends the five octets of return parameters.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, phy, currentTransmitPowerLevel, maxTransmitPowerLevel)
        }
    }

    /// The command's opcode: OGF 0x08, OCF 0x0076.
    public static let opcode = HCIOpcode.leEnhancedReadTransmitPowerLevel
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The PHY and its coding.
    public var phy: PowerLevelPHY

    /// Creates the command for one PHY of a connection.
    public init(connectionHandle: ConnectionHandle, phy: PowerLevelPHY) {
        self.connectionHandle = connectionHandle
        self.phy = phy
    }

    /// Decodes the connection handle and the PHY, three octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, phy) = try parameters.read()
    }

    /// Appends the connection handle and the PHY, three octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, phy)
    }
}

/// LE Read Remote Transmit Power Level (Core 5.4, Vol 4, Part E, 7.8.118). LE Transmit Power Reporting follows.
public struct LEReadRemoteTransmitPowerLevel: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0077.
    public static let opcode = HCIOpcode.leReadRemoteTransmitPowerLevel
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The PHY and its coding.
    public var phy: PowerLevelPHY

    /// Creates the command for one PHY of a connection.
    public init(connectionHandle: ConnectionHandle, phy: PowerLevelPHY) {
        self.connectionHandle = connectionHandle
        self.phy = phy
    }

    /// Decodes the connection handle and the PHY, three octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, phy) = try parameters.read()
    }

    /// Appends the connection handle and the PHY, three octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, phy)
    }
}

/// LE Set Path Loss Reporting Parameters (Core 5.4, Vol 4, Part E, 7.8.119). Path losses are in dB.
public struct LESetPathLossReportingParameters: HCICommand {
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The command's opcode: OGF 0x08, OCF 0x0078.
    public static let opcode = HCIOpcode.leSetPathLossReportingParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The path loss above which the link is in the high zone; 0xFF for none.
    public var highThreshold: UInt8
    /// The distance below `highThreshold` at which the link leaves the high zone.
    public var highHysteresis: UInt8
    /// The path loss below which the link is in the low zone.
    public var lowThreshold: UInt8
    /// The distance above `lowThreshold` at which the link leaves the low zone.
    public var lowHysteresis: UInt8
    /// The number of connection events for which the path loss must stay in a zone before the change is reported.
    public var minTimeSpent: UInt16

    /// Creates the command for a connection. Thresholds and hystereses are in dB.
    public init(
        connectionHandle: ConnectionHandle, highThreshold: UInt8, highHysteresis: UInt8, lowThreshold: UInt8,
        lowHysteresis: UInt8, minTimeSpent: UInt16
    ) {
        self.connectionHandle = connectionHandle
        self.highThreshold = highThreshold
        self.highHysteresis = highHysteresis
        self.lowThreshold = lowThreshold
        self.lowHysteresis = lowHysteresis
        self.minTimeSpent = minTimeSpent
    }

    /// Decodes eight octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, highThreshold, highHysteresis, lowThreshold, lowHysteresis, minTimeSpent) =
            try parameters.read()
    }

    /// Appends the eight octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: connectionHandle, highThreshold, highHysteresis, lowThreshold, lowHysteresis, minTimeSpent)
    }
}

/// LE Set Path Loss Reporting Enable (Core 5.4, Vol 4, Part E, 7.8.120).
public struct LESetPathLossReportingEnable: HCICommand {
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The command's opcode: OGF 0x08, OCF 0x0079.
    public static let opcode = HCIOpcode.leSetPathLossReportingEnable
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether the controller sends LE Path Loss Threshold events.
    public var isEnabled: Bool

    /// Creates the command that starts or stops the events for a connection.
    public init(connectionHandle: ConnectionHandle, isEnabled: Bool) {
        self.connectionHandle = connectionHandle
        self.isEnabled = isEnabled
    }

    /// Decodes the connection handle and the flag, three octets. Throws if octets are missing, or if the flag is
    /// neither 0x00 nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, isEnabled) = try parameters.read()
    }

    /// Appends the connection handle and the flag, three octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, isEnabled)
    }
}

/// LE Set Transmit Power Reporting Enable (Core 5.4, Vol 4, Part E, 7.8.121).
public struct LESetTransmitPowerReportingEnable: HCICommand {
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The command's opcode: OGF 0x08, OCF 0x007A.
    public static let opcode = HCIOpcode.leSetTransmitPowerReportingEnable
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether the controller reports changes of the local transmit power.
    public var reportsLocal: Bool
    /// Whether the controller reports changes of the peer's transmit power.
    public var reportsRemote: Bool

    /// Creates the command that selects the changes to report for a connection.
    public init(connectionHandle: ConnectionHandle, reportsLocal: Bool, reportsRemote: Bool) {
        self.connectionHandle = connectionHandle
        self.reportsLocal = reportsLocal
        self.reportsRemote = reportsRemote
    }

    /// Decodes the connection handle, the flag for local changes and the flag for remote changes, four octets. Throws
    /// if octets are missing, or if a flag is neither 0x00 nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, reportsLocal, reportsRemote) = try parameters.read()
    }

    /// Appends the connection handle, the flag for local changes and the flag for remote changes, four octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, reportsLocal, reportsRemote)
    }
}
