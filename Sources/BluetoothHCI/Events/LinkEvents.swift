import BluetoothBase

/// Disconnection Complete (Core 5.4, Vol 4, Part E, 7.7.5).
public struct DisconnectionComplete: HCIEventBody, Equatable, Sendable {
    /// The event code, 0x05.
    public static var code: HCIEventCode { .disconnectionComplete }
    /// Whether the connection was terminated. If not, `reason` is meaningless.
    public var status: HCIStatus
    /// The terminated connection.
    public var connectionHandle: ConnectionHandle
    /// The reason for the disconnection.
    public var reason: HCIStatus

    /// Creates the event for a terminated connection, by default with success.
    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, reason: HCIStatus) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.reason = reason
    }

    /// Decodes the status, the connection handle and the reason, four octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, reason) = try parameters.read()
    }

    /// Appends the status, the connection handle and the reason, four octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, reason)
    }
}

/// Read Remote Version Information Complete (Core 5.4, Vol 4, Part E, 7.7.12).
public struct ReadRemoteVersionInformationComplete: HCIEventBody, Equatable, Sendable {
    /// The event code, 0x0C.
    public static var code: HCIEventCode { .readRemoteVersionInformationComplete }
    /// Whether the version was read.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The version of the peer's Link Layer.
    public var version: CoreVersion
    /// The company identifier of the manufacturer of the peer's controller, from Assigned Numbers.
    public var companyIdentifier: UInt16
    /// The revision of the peer's Link Layer, assigned by its manufacturer.
    public var subversion: UInt16

    /// Creates the event with the version of the peer, by default with success.
    public init(
        status: HCIStatus = .success,
        connectionHandle: ConnectionHandle,
        version: CoreVersion,
        companyIdentifier: UInt16,
        subversion: UInt16
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.version = version
        self.companyIdentifier = companyIdentifier
        self.subversion = subversion
    }

    /// Decodes eight octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, version, companyIdentifier, subversion) = try parameters.read()
    }

    /// Appends the eight octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, version, companyIdentifier, subversion)
    }
}
