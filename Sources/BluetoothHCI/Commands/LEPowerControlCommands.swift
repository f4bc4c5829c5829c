import BluetoothBase

/// A PHY with its coding, for which a power level holds (Core 5.4, Vol 4, Part E, 7.8.117).
public struct PowerLevelPHY: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE 1M.
    public static let le1M = PowerLevelPHY(rawValue: 1)
    /// LE 2M.
    public static let le2M = PowerLevelPHY(rawValue: 2)
    /// LE Coded, eight symbols a bit.
    public static let leCodedS8 = PowerLevelPHY(rawValue: 3)
    /// LE Coded, two symbols a bit.
    public static let leCodedS2 = PowerLevelPHY(rawValue: 4)
}

extension PowerLevelPHY: HCIParameter {}

/// LE Enhanced Read Transmit Power Level (Core 5.4, Vol 4, Part E, 7.8.117).
public struct LEEnhancedReadTransmitPowerLevel: HCICommand {
    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The PHY.
        public var phy: PowerLevelPHY
        /// The power now, in dBm; 127 if it is not available.
        public var currentTransmitPowerLevel: Int8
        /// The most power, in dBm.
        public var maxTransmitPowerLevel: Int8

        public init(
            connectionHandle: ConnectionHandle, phy: PowerLevelPHY, currentTransmitPowerLevel: Int8,
            maxTransmitPowerLevel: Int8
        ) {
            self.connectionHandle = connectionHandle
            self.phy = phy
            self.currentTransmitPowerLevel = currentTransmitPowerLevel
            self.maxTransmitPowerLevel = maxTransmitPowerLevel
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, phy, currentTransmitPowerLevel, maxTransmitPowerLevel) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, phy, currentTransmitPowerLevel, maxTransmitPowerLevel)
        }
    }

    public static let opcode = HCIOpcode.leEnhancedReadTransmitPowerLevel
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The PHY, with its coding.
    public var phy: PowerLevelPHY

    public init(connectionHandle: ConnectionHandle, phy: PowerLevelPHY) {
        self.connectionHandle = connectionHandle
        self.phy = phy
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, phy) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, phy)
    }
}

/// LE Read Remote Transmit Power Level (Core 5.4, Vol 4, Part E, 7.8.118): LE Transmit Power Reporting follows.
public struct LEReadRemoteTransmitPowerLevel: HCICommand {
    public static let opcode = HCIOpcode.leReadRemoteTransmitPowerLevel
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The PHY, with its coding.
    public var phy: PowerLevelPHY

    public init(connectionHandle: ConnectionHandle, phy: PowerLevelPHY) {
        self.connectionHandle = connectionHandle
        self.phy = phy
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, phy) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, phy)
    }
}

/// LE Set Path Loss Reporting Parameters (Core 5.4, Vol 4, Part E, 7.8.119). Losses are in dB.
public struct LESetPathLossReportingParameters: HCICommand {
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    public static let opcode = HCIOpcode.leSetPathLossReportingParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// What is above it is in the high zone; 0xFF for none.
    public var highThreshold: UInt8
    /// How far below it the zone is left.
    public var highHysteresis: UInt8
    /// What is below it is in the low zone.
    public var lowThreshold: UInt8
    /// How far above it the zone is left.
    public var lowHysteresis: UInt8
    /// How many connection events a loss has to last.
    public var minTimeSpent: UInt16

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, highThreshold, highHysteresis, lowThreshold, lowHysteresis, minTimeSpent) =
            try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: connectionHandle, highThreshold, highHysteresis, lowThreshold, lowHysteresis, minTimeSpent)
    }
}

/// LE Set Path Loss Reporting Enable (Core 5.4, Vol 4, Part E, 7.8.120).
public struct LESetPathLossReportingEnable: HCICommand {
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    public static let opcode = HCIOpcode.leSetPathLossReportingEnable
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether LE Path Loss Threshold is sent.
    public var isEnabled: Bool

    public init(connectionHandle: ConnectionHandle, isEnabled: Bool) {
        self.connectionHandle = connectionHandle
        self.isEnabled = isEnabled
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, isEnabled) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, isEnabled)
    }
}

/// LE Set Transmit Power Reporting Enable (Core 5.4, Vol 4, Part E, 7.8.121).
public struct LESetTransmitPowerReportingEnable: HCICommand {
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    public static let opcode = HCIOpcode.leSetTransmitPowerReportingEnable
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether changes of the own power are reported.
    public var reportsLocal: Bool
    /// Whether changes of the peer's are.
    public var reportsRemote: Bool

    public init(connectionHandle: ConnectionHandle, reportsLocal: Bool, reportsRemote: Bool) {
        self.connectionHandle = connectionHandle
        self.reportsLocal = reportsLocal
        self.reportsRemote = reportsRemote
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, reportsLocal, reportsRemote) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, reportsLocal, reportsRemote)
    }
}
