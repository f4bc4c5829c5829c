import BluetoothBase

/// LE Path Loss Threshold (Core 5.4, Vol 4, Part E, 7.7.65.32).
public struct LEPathLossThreshold: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .pathLossThreshold }
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// In dB; 0xFF if it is not available.
    public var currentPathLoss: UInt8
    /// The zone it is in now.
    public var zoneEntered: PathLossZone

    public init(connectionHandle: ConnectionHandle, currentPathLoss: UInt8, zoneEntered: PathLossZone) {
        self.connectionHandle = connectionHandle
        self.currentPathLoss = currentPathLoss
        self.zoneEntered = zoneEntered
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, currentPathLoss, zoneEntered) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, currentPathLoss, zoneEntered)
    }
}

/// How much of the signal is lost on its way (Core 5.4, Vol 4, Part E, 7.7.65.32).
public struct PathLossZone: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let low = PathLossZone(rawValue: 0)
    public static let middle = PathLossZone(rawValue: 1)
    public static let high = PathLossZone(rawValue: 2)
}

extension PathLossZone: HCIParameter {}

/// LE Transmit Power Reporting (Core 5.4, Vol 4, Part E, 7.7.65.33).
public struct LETransmitPowerReporting: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .transmitPowerReporting }
    /// Whether it was successful.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// 0 for a change of the own power, 1 for a change of the peer's, 2 for LE Read Remote Transmit Power Level.
    public var reason: UInt8
    /// The PHY, with its coding.
    public var phy: PowerLevelPHY
    /// In dBm; 126 if the peer does not control it, 127 if it is not available.
    public var transmitPowerLevel: Int8
    /// Whether it is the least (bit 0) or the most (bit 1) there is.
    public var levelFlags: UInt8
    /// The change, in dB; 127 if it is not available.
    public var delta: Int8

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, reason, phy, transmitPowerLevel, levelFlags) = try parameters.read()
        delta = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, reason, phy, transmitPowerLevel, levelFlags)
        writer.append(parameters: delta)
    }
}
