import BluetoothBase

/// Disconnection Complete (Core 5.4, Vol 4, Part E, 7.7.5).
public struct DisconnectionComplete: HCIEventBody, Equatable, Sendable {
    public static var code: HCIEventCode { .disconnectionComplete }
    /// Whether the disconnection happened; if not, `reason` means nothing.
    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
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
    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    public var version: CoreVersion
    /// Who made the peer's controller, as the Assigned Numbers list it.
    public var companyIdentifier: UInt16
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
