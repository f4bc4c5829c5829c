import BluetoothBase

/// LE Path Loss Threshold (Core 5.4, Vol 4, Part E, 7.7.65.32).
public struct LEPathLossThreshold: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x20.
    public static var subeventCode: LESubeventCode { .pathLossThreshold }
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The current path loss in dB; 0xFF if it is not available.
    public var currentPathLoss: UInt8
    /// The zone that the path loss has entered.
    public var zoneEntered: PathLossZone

    /// Creates the event for the zone that the path loss has entered. Pass 0xFF as `currentPathLoss` if it is not
    /// available.
    public init(connectionHandle: ConnectionHandle, currentPathLoss: UInt8, zoneEntered: PathLossZone) {
        self.connectionHandle = connectionHandle
        self.currentPathLoss = currentPathLoss
        self.zoneEntered = zoneEntered
    }

    /// Decodes the connection handle, the path loss and the zone, four octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, currentPathLoss, zoneEntered) = try parameters.read()
    }

    /// Appends the connection handle, the path loss and the zone, four octets.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, currentPathLoss, zoneEntered)
    }
}

/// A zone of path loss (Core 5.4, Vol 4, Part E, 7.7.65.32).
public struct PathLossZone: RawRepresentable, Hashable, Sendable {
    /// The Zone_Entered parameter: 0 to 2 are assigned, and all other values are reserved.
    public var rawValue: UInt8

    /// Creates a zone from the event parameter. Reserved values are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The path loss is below the low threshold.
    public static let low = PathLossZone(rawValue: 0)
    /// The path loss is between the thresholds.
    public static let middle = PathLossZone(rawValue: 1)
    /// The path loss is above the high threshold.
    public static let high = PathLossZone(rawValue: 2)
}

extension PathLossZone: HCIParameter {}

/// LE Transmit Power Reporting (Core 5.4, Vol 4, Part E, 7.7.65.33).
public struct LETransmitPowerReporting: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x21.
    public static var subeventCode: LESubeventCode { .transmitPowerReporting }
    /// Whether the operation succeeded.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The reason for the event: 0 if the local transmit power changed, 1 if the peer's changed, 2 after LE Read Remote
    /// Transmit Power Level.
    public var reason: UInt8
    /// The PHY and its coding.
    public var phy: PowerLevelPHY
    /// The transmit power in dBm; 126 if the peer does not manage its power level on this PHY, 127 if it is not
    /// available.
    public var transmitPowerLevel: Int8
    /// Whether the transmit power is at its minimum (bit 0) or maximum (bit 1).
    public var levelFlags: UInt8
    /// The change of the transmit power in dB; 127 if it is not available.
    public var delta: Int8

    /// Creates the event, by default with success. The level is in dBm, and its change in dB.
    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, reason: UInt8, phy: PowerLevelPHY,
        transmitPowerLevel: Int8, levelFlags: UInt8, delta: Int8
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.reason = reason
        self.phy = phy
        self.transmitPowerLevel = transmitPowerLevel
        self.levelFlags = levelFlags
        self.delta = delta
    }

    /// Decodes eight octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, reason, phy, transmitPowerLevel, levelFlags) = try parameters.read()
        delta = try parameters.read()
    }

    /// Appends the eight octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, reason, phy, transmitPowerLevel, levelFlags)
        writer.append(parameters: delta)
    }
}
