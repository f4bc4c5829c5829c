import BluetoothBase

/// Disconnection Complete (Core 5.4, Vol 4, Part E, 7.7.5).
public struct DisconnectionComplete: HCIEventBody, Equatable, Sendable {
    public static var code: HCIEventCode { .disconnectionComplete }
    /// Whether the disconnection happened. If not, `reason` is meaningless.
    public var status: HCIStatus
    /// The connection that ended.
    public var connectionHandle: ConnectionHandle
    /// Why it ended.
    public var reason: HCIStatus

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, reason: HCIStatus) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.reason = reason
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, reason) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, reason)
    }
}

/// Read Remote Version Information Complete (Core 5.4, Vol 4, Part E, 7.7.12).
public struct ReadRemoteVersionInformationComplete: HCIEventBody, Equatable, Sendable {
    public static var code: HCIEventCode { .readRemoteVersionInformationComplete }
    /// Whether the version was read.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The version of the peer's link layer.
    public var version: CoreVersion
    /// The manufacturer of the peer's controller: a company identifier of the Assigned Numbers.
    public var companyIdentifier: UInt16
    /// The revision of the peer's link layer; its manufacturer assigns it.
    public var subversion: UInt16

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, version, companyIdentifier, subversion) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, version, companyIdentifier, subversion)
    }
}
