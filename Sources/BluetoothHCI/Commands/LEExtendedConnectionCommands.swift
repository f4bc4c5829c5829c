import BluetoothBase

/// LE Extended Create Connection [v1] (Core 5.4, Vol 4, Part E, 7.8.66): LE Enhanced Connection Complete follows, also
/// after a cancel.
public struct LEExtendedCreateConnection: HCICommand {
    /// How to scan for the peer on one PHY, and the parameters of a connection made there.
    public struct PHYParameters: Hashable, Sendable {
        /// From the start of one scan window to the start of the next, 0x0004 (2.5 ms) or more.
        public var scanInterval: LESlots
        /// How long to listen in each interval, 0x0004 (2.5 ms) or more; at most the interval.
        public var scanWindow: LESlots
        /// The parameters of a connection made on this PHY.
        public var connectionParameters: LEConnectionParameters

        public init(scanInterval: LESlots, scanWindow: LESlots, connectionParameters: LEConnectionParameters) {
            self.scanInterval = scanInterval
            self.scanWindow = scanWindow
            self.connectionParameters = connectionParameters
        }
    }

    public static let opcode = HCIOpcode.leExtendedCreateConnection
    /// Which device to connect to.
    public var filterPolicy: InitiatorFilterPolicy
    /// The address to connect with.
    public var ownAddressType: OwnAddressType
    /// The device to connect to; ignored if `filterPolicy` is `acceptList`.
    public var peerAddress: DeviceAddress
    /// Parameters for LE 1M; nil leaves this PHY out.
    public var le1M: PHYParameters?
    /// Parameters for LE 2M; nil leaves this PHY out. There is no scanning on it, only connections.
    public var le2M: PHYParameters?
    /// Parameters for LE Coded; nil leaves this PHY out.
    public var leCoded: PHYParameters?

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

/// LE Extended Create Connection [v2] (Core 5.4, Vol 4, Part E, 7.8.66): connects to a device that is synchronized to periodic
/// advertising with responses of this controller, in one of the subevents. LE Enhanced Connection Complete follows, with
/// `connectionFailedToBeEstablished` where the device did not answer.
public struct LEExtendedCreateConnectionV2: HCICommand {
    public static let opcode = HCIOpcode.leExtendedCreateConnectionV2
    /// The set whose periodic advertising the device receives.
    public var advertisingHandle: AdvertisingHandle
    /// The subevent in which it listens, 0 to 127.
    public var subevent: UInt8
    /// The device, and the parameters of the connection; those of scanning are ignored.
    public var connection: LEExtendedCreateConnection

    public init(advertisingHandle: AdvertisingHandle, subevent: UInt8, connection: LEExtendedCreateConnection) {
        self.advertisingHandle = advertisingHandle
        self.subevent = subevent
        self.connection = connection
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, subevent) = try parameters.read()
        connection = try LEExtendedCreateConnection(decoding: &parameters)
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, subevent)
        connection.encodeParameters(into: &writer)
    }
}
