import BluetoothBase

/// Disconnect (Core 5.4, Vol 4, Part E, 7.1.6): ends a connection; Disconnection Complete follows.
public struct Disconnect: HCICommand {
    public static let opcode = HCIOpcode.disconnect
    /// The connection to end.
    public var connectionHandle: ConnectionHandle
    /// The reason the peer receives.
    public var reason: HCIStatus

    public init(connectionHandle: ConnectionHandle, reason: HCIStatus = .remoteUserTerminatedConnection) {
        self.connectionHandle = connectionHandle
        self.reason = reason
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, reason) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, reason)
    }
}

/// Read Remote Version Information (Core 5.4, Vol 4, Part E, 7.1.23).
public struct ReadRemoteVersionInformation: HCIConnectionCommand {
    public static let opcode = HCIOpcode.readRemoteVersionInformation
    /// The connection.
    public var connectionHandle: ConnectionHandle

    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }
}
