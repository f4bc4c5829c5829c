import BluetoothBase

/// LE Connection Complete (Core 5.4, Vol 4, Part E, 7.7.65.1).
public struct LEConnectionComplete: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x01.
    public static var subeventCode: LESubeventCode { .connectionComplete }
    /// Whether a connection was created. If not, no other field is meaningful.
    public var status: HCIStatus
    /// The new connection.
    public var connectionHandle: ConnectionHandle
    /// This device's role.
    public var role: ConnectionRole
    /// The peer's address.
    public var peerAddress: DeviceAddress
    /// The connection interval.
    public var interval: ConnectionInterval
    /// The number of connection events the peripheral may skip, 0 to 499.
    public var latency: UInt16
    /// The supervision timeout.
    public var supervisionTimeout: SupervisionTimeout
    /// The accuracy of the central's clock. Meaningful only to a peripheral.
    public var centralClockAccuracy: ClockAccuracy

    /// Creates the event for a new connection, by default with success and no peripheral latency.
    public init(
        status: HCIStatus = .success,
        connectionHandle: ConnectionHandle,
        role: ConnectionRole,
        peerAddress: DeviceAddress,
        interval: ConnectionInterval,
        latency: UInt16 = 0,
        supervisionTimeout: SupervisionTimeout,
        centralClockAccuracy: ClockAccuracy = ClockAccuracy(rawValue: 0)
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.role = role
        self.peerAddress = peerAddress
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
        self.centralClockAccuracy = centralClockAccuracy
    }

    /// Decodes 18 octets of parameters. Throws if octets are missing or, for a successful connection, if the address
    /// type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, role) = try parameters.read()
        peerAddress = try parameters.readPeerAddress(status)
        (interval, latency, supervisionTimeout, centralClockAccuracy) = try parameters.read()
    }

    /// Appends the 18 octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: status, connectionHandle, role, peerAddress, interval, latency, supervisionTimeout,
            centralClockAccuracy)
    }
}

/// LE Enhanced Connection Complete [v1] (Core 5.4, Vol 4, Part E, 7.7.65.10).
public struct LEEnhancedConnectionComplete: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x0A.
    public static var subeventCode: LESubeventCode { .enhancedConnectionComplete }
    /// Whether a connection was created. If not, no other field is meaningful.
    public var status = HCIStatus.success
    /// The new connection.
    public var connectionHandle: ConnectionHandle
    /// This device's role.
    public var role: ConnectionRole
    /// The peer's address. It is the identity address if the controller has resolved it.
    public var peerAddress: DeviceAddress
    /// The resolvable private address that the controller generated for this device; zero if it did not generate one.
    public var localResolvablePrivateAddress = DeviceAddress(0, kind: .random)
    /// The peer's resolvable private address, if the controller has resolved it; otherwise zero.
    public var peerResolvablePrivateAddress = DeviceAddress(0, kind: .random)
    /// The connection interval.
    public var interval: ConnectionInterval
    /// The number of connection events the peripheral may skip, 0 to 499.
    public var latency: UInt16 = 0
    /// The supervision timeout.
    public var supervisionTimeout: SupervisionTimeout
    /// The accuracy of the central's clock. Meaningful only to a peripheral.
    public var centralClockAccuracy = ClockAccuracy(rawValue: 0)

    /// Creates the event for a new connection, with success and without resolvable private addresses.
    public init(
        connectionHandle: ConnectionHandle, role: ConnectionRole, peerAddress: DeviceAddress,
        interval: ConnectionInterval, latency: UInt16 = 0, supervisionTimeout: SupervisionTimeout
    ) {
        self.connectionHandle = connectionHandle
        self.role = role
        self.peerAddress = peerAddress
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Decodes 30 octets of parameters. Throws if octets are missing or, for a successful connection, if the peer
    /// address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, role) = try parameters.read()
        peerAddress = try parameters.readPeerAddress(status)
        localResolvablePrivateAddress = try parameters.readAddress(.random)
        peerResolvablePrivateAddress = try parameters.readAddress(.random)
        (interval, latency, supervisionTimeout, centralClockAccuracy) = try parameters.read()
    }

    /// Appends the 30 octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, role, peerAddress)
        writer.append(localResolvablePrivateAddress)
        writer.append(peerResolvablePrivateAddress)
        writer.append(parameters: interval, latency, supervisionTimeout, centralClockAccuracy)
    }
}

/// LE Connection Update Complete (Core 5.4, Vol 4, Part E, 7.7.65.3).
public struct LEConnectionUpdateComplete: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x03.
    public static var subeventCode: LESubeventCode { .connectionUpdateComplete }
    /// Whether the parameters were changed.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The connection interval.
    public var interval: ConnectionInterval
    /// The number of connection events the peripheral may skip, 0 to 499.
    public var latency: UInt16
    /// The supervision timeout.
    public var supervisionTimeout: SupervisionTimeout

    /// Creates the event with the parameters now in use, by default with success.
    public init(
        status: HCIStatus = .success,
        connectionHandle: ConnectionHandle,
        interval: ConnectionInterval,
        latency: UInt16 = 0,
        supervisionTimeout: SupervisionTimeout
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Decodes nine octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, interval, latency, supervisionTimeout) = try parameters.read()
    }

    /// Appends the nine octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, interval, latency, supervisionTimeout)
    }
}

/// LE Remote Connection Parameter Request (Core 5.4, Vol 4, Part E, 7.7.65.6).
public struct LERemoteConnectionParameterRequest: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x06.
    public static var subeventCode: LESubeventCode { .remoteConnectionParameterRequest }
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The minimum interval that the peer requests.
    public var intervalMin: ConnectionInterval
    /// The maximum interval that the peer requests.
    public var intervalMax: ConnectionInterval
    /// The number of connection events the peripheral may skip, 0 to 499.
    public var maxLatency: UInt16
    /// The supervision timeout that the peer requests.
    public var supervisionTimeout: SupervisionTimeout

    /// Creates the event with the parameters that the peer requests.
    public init(
        connectionHandle: ConnectionHandle,
        intervalMin: ConnectionInterval,
        intervalMax: ConnectionInterval,
        maxLatency: UInt16 = 0,
        supervisionTimeout: SupervisionTimeout
    ) {
        self.connectionHandle = connectionHandle
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.maxLatency = maxLatency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Decodes 10 octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, intervalMin, intervalMax, maxLatency, supervisionTimeout) = try parameters.read()
    }

    /// Appends the 10 octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, intervalMin, intervalMax, maxLatency, supervisionTimeout)
    }
}

/// LE Channel Selection Algorithm (Core 5.4, Vol 4, Part E, 7.7.65.20).
public struct LEChannelSelectionAlgorithm: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x14.
    public static var subeventCode: LESubeventCode { .channelSelectionAlgorithm }
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The algorithm used: 0 for algorithm #1, 1 for algorithm #2.
    public var algorithm: UInt8

    /// Creates the event. Pass 0 for algorithm #1, or 1 for algorithm #2.
    public init(connectionHandle: ConnectionHandle, algorithm: UInt8) {
        self.connectionHandle = connectionHandle
        self.algorithm = algorithm
    }

    /// Decodes the connection handle and the algorithm, three octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, algorithm) = try parameters.read()
    }

    /// Appends the connection handle and the algorithm, three octets.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, algorithm)
    }
}

extension ByteReader {
    /// Reads the peer address of a new connection, or the advertiser's of a new synchronization. If it failed, any
    /// address type is accepted, because the failure must still be reported.
    @_lifetime(self: copy self)
    mutating func readPeerAddress(_ status: HCIStatus) throws(DecodingFailure) -> DeviceAddress {
        if status.isSuccess { return try readTypedAddress() }
        let kind = DeviceAddress.Kind(rawValue: try readUInt8()) ?? .public
        return try readAddress(kind)
    }
}
