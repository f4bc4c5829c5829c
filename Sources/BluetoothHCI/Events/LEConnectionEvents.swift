import BluetoothBase

/// LE Connection Complete (Core 5.4, Vol 4, Part E, 7.7.65.1).
public struct LEConnectionComplete: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .connectionComplete }
    /// Where this is not success, nothing behind it means anything.
    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    public var role: ConnectionRole
    public var peerAddress: DeviceAddress
    public var interval: ConnectionInterval
    /// How many connection events the peripheral may skip.
    public var latency: UInt16
    public var supervisionTimeout: SupervisionTimeout
    /// Of use to a peripheral only.
    public var centralClockAccuracy: ClockAccuracy

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, role) = try parameters.read()
        peerAddress = try parameters.readPeerAddress(status)
        (interval, latency, supervisionTimeout, centralClockAccuracy) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: status, connectionHandle, role, peerAddress, interval, latency, supervisionTimeout,
            centralClockAccuracy)
    }
}

/// LE Enhanced Connection Complete [v1] (Core 5.4, Vol 4, Part E, 7.7.65.10).
public struct LEEnhancedConnectionComplete: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .enhancedConnectionComplete }
    /// Where this is not success, nothing behind it means anything.
    public var status = HCIStatus.success
    public var connectionHandle: ConnectionHandle
    public var role: ConnectionRole
    /// An identity address, where the controller resolved the peer's.
    public var peerAddress: DeviceAddress
    /// The address the controller made for this device; zero where it made none.
    public var localResolvablePrivateAddress = DeviceAddress(0, kind: .random)
    /// The address on the air, where the controller resolved it; else zero.
    public var peerResolvablePrivateAddress = DeviceAddress(0, kind: .random)
    public var interval: ConnectionInterval
    /// How many connection events the peripheral may skip.
    public var latency: UInt16 = 0
    public var supervisionTimeout: SupervisionTimeout
    /// Of use to a peripheral only.
    public var centralClockAccuracy = ClockAccuracy(rawValue: 0)

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, role) = try parameters.read()
        peerAddress = try parameters.readPeerAddress(status)
        localResolvablePrivateAddress = try parameters.readAddress(.random)
        peerResolvablePrivateAddress = try parameters.readAddress(.random)
        (interval, latency, supervisionTimeout, centralClockAccuracy) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, role, peerAddress)
        writer.append(localResolvablePrivateAddress)
        writer.append(peerResolvablePrivateAddress)
        writer.append(parameters: interval, latency, supervisionTimeout, centralClockAccuracy)
    }
}

/// LE Connection Update Complete (Core 5.4, Vol 4, Part E, 7.7.65.3).
public struct LEConnectionUpdateComplete: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .connectionUpdateComplete }
    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    public var interval: ConnectionInterval
    /// How many connection events the peripheral may skip.
    public var latency: UInt16
    public var supervisionTimeout: SupervisionTimeout

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, interval, latency, supervisionTimeout) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, interval, latency, supervisionTimeout)
    }
}

/// LE Remote Connection Parameter Request (Core 5.4, Vol 4, Part E, 7.7.65.6).
public struct LERemoteConnectionParameterRequest: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .remoteConnectionParameterRequest }
    public var connectionHandle: ConnectionHandle
    public var intervalMin: ConnectionInterval
    public var intervalMax: ConnectionInterval
    public var maxLatency: UInt16
    public var supervisionTimeout: SupervisionTimeout

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, intervalMin, intervalMax, maxLatency, supervisionTimeout) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, intervalMin, intervalMax, maxLatency, supervisionTimeout)
    }
}

/// LE Channel Selection Algorithm (Core 5.4, Vol 4, Part E, 7.7.65.20).
public struct LEChannelSelectionAlgorithm: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .channelSelectionAlgorithm }
    public var connectionHandle: ConnectionHandle
    /// 0 for algorithm #1, 1 for algorithm #2.
    public var algorithm: UInt8

    public init(connectionHandle: ConnectionHandle, algorithm: UInt8) {
        self.connectionHandle = connectionHandle
        self.algorithm = algorithm
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, algorithm) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, algorithm)
    }
}

extension ByteReader {
    /// Reads the address of a new connection's peer. Where there is no connection the type may be anything: that it
    /// failed must be told all the same.
    @_lifetime(self: copy self)
    fileprivate mutating func readPeerAddress(_ status: HCIStatus) throws(DecodingFailure) -> DeviceAddress {
        if status.isSuccess { return try readTypedAddress() }
        let kind = DeviceAddress.Kind(rawValue: try readUInt8()) ?? .public
        return try readAddress(kind)
    }
}
