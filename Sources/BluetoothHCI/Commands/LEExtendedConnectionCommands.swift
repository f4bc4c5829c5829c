import BluetoothBase

/// LE Extended Create Connection [v1] (Core 5.4, Vol 4, Part E, 7.8.66). LE Enhanced Connection Complete follows, even
/// if the command is cancelled.
public struct LEExtendedCreateConnection: HCICommand {
    /// The scan parameters for one PHY, and the parameters of a connection created on it.
    public struct PHYParameters: Hashable, Sendable {
        /// The time from the start of one scan window to the start of the next, 0x0004 (2.5 ms) or more.
        public var scanInterval: LESlots
        /// The time to listen in each interval, 0x0004 (2.5 ms) or more; at most the scan interval.
        public var scanWindow: LESlots
        /// The parameters of a connection created on this PHY.
        public var connectionParameters: LEConnectionParameters

        /// Creates the parameters for one PHY. The window must not exceed the interval.
        public init(scanInterval: LESlots, scanWindow: LESlots, connectionParameters: LEConnectionParameters) {
            self.scanInterval = scanInterval
            self.scanWindow = scanWindow
            self.connectionParameters = connectionParameters
        }
    }

    /// The command's opcode: OGF 0x08, OCF 0x0043.
    public static let opcode = HCIOpcode.leExtendedCreateConnection
    /// Whether to connect to `peerAddress` or to any device on the Filter Accept List.
    public var filterPolicy: InitiatorFilterPolicy
    /// The type of this device's address to use for the connection.
    public var ownAddressType: OwnAddressType
    /// The device to connect to; ignored if `filterPolicy` is `acceptList`.
    public var peerAddress: DeviceAddress
    /// Parameters for LE 1M; nil excludes this PHY.
    public var le1M: PHYParameters?
    /// Parameters for LE 2M; nil excludes this PHY. It is used for connections only, not for scanning.
    public var le2M: PHYParameters?
    /// Parameters for LE Coded; nil excludes this PHY.
    public var leCoded: PHYParameters?

    /// Creates the command. LE 1M, LE Coded or both must have parameters, because devices don't scan on LE 2M.
    public init(
        filterPolicy: InitiatorFilterPolicy = .peerAddress, ownAddressType: OwnAddressType = .public,
        peerAddress: DeviceAddress, le1M: PHYParameters?, le2M: PHYParameters? = nil, leCoded: PHYParameters? = nil
    ) {
        self.filterPolicy = filterPolicy
        self.ownAddressType = ownAddressType
        self.peerAddress = peerAddress
        self.le1M = le1M
        self.le2M = le2M
        self.leCoded = leCoded
    }

    /// Decodes 10 octets, followed by 16 for each PHY. Throws if octets are missing, if the filter policy or an address
    /// type is reserved, or if a PHY is unknown.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        let phys: LEPHYs
        (filterPolicy, ownAddressType, peerAddress, phys) = try parameters.read()
        guard phys.isSubset(of: [.le1M, .le2M, .leCoded]) else {
            throw DecodingFailure(.invalidValue, at: parameters.offset - 1)
        }
        le1M = phys.contains(.le1M) ? try PHYParameters(decoding: &parameters) : nil
        le2M = phys.contains(.le2M) ? try PHYParameters(decoding: &parameters) : nil
        leCoded = phys.contains(.leCoded) ? try PHYParameters(decoding: &parameters) : nil
    }

    /// Appends 10 octets, followed by 16 for each PHY that has parameters. Scan times are clamped to 16 bits.
    public func encodeParameters(into writer: inout ByteWriter) {
        var phys: LEPHYs = []
        if le1M != nil { phys.insert(.le1M) }
        if le2M != nil { phys.insert(.le2M) }
        if leCoded != nil { phys.insert(.leCoded) }
        writer.append(parameters: filterPolicy, ownAddressType, peerAddress, phys)
        le1M?.encode(into: &writer)
        le2M?.encode(into: &writer)
        leCoded?.encode(into: &writer)
    }
}

extension LEExtendedCreateConnection.PHYParameters: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        (scanInterval, scanWindow, connectionParameters) = try reader.read()
    }

    func encode(into writer: inout ByteWriter) {
        writer.append(parameters: scanInterval, scanWindow, connectionParameters)
    }
}

/// LE Extended Create Connection [v2] (Core 5.4, Vol 4, Part E, 7.8.66): connects, in a subevent, to a device that is
/// synchronized to this controller's periodic advertising with responses. LE Enhanced Connection Complete follows. Its
/// status is `connectionFailedToBeEstablished` if the device did not respond.
public struct LEExtendedCreateConnectionV2: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0085.
    public static let opcode = HCIOpcode.leExtendedCreateConnectionV2
    /// The advertising set whose periodic advertising the device receives.
    public var advertisingHandle: AdvertisingHandle
    /// The subevent in which the device listens, 0 to 127.
    public var subevent: UInt8
    /// The device and the parameters of the connection. The scan parameters are ignored.
    public var connection: LEExtendedCreateConnection

    /// Creates the command for a device that listens in this subevent.
    public init(advertisingHandle: AdvertisingHandle, subevent: UInt8, connection: LEExtendedCreateConnection) {
        self.advertisingHandle = advertisingHandle
        self.subevent = subevent
        self.connection = connection
    }

    /// Decodes the advertising handle, the subevent and the parameters of version [v1]. Throws in the same cases as
    /// version [v1].
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, subevent) = try parameters.read()
        connection = try LEExtendedCreateConnection(decoding: &parameters)
    }

    /// Appends the advertising handle and the subevent, followed by the parameters of version [v1].
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, subevent)
        connection.encodeParameters(into: &writer)
    }
}
