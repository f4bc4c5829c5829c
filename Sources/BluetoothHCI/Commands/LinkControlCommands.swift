import BluetoothBase

/// Disconnect (Core 5.4, Vol 4, Part E, 7.1.6): ends a connection. Disconnection Complete follows.
public struct Disconnect: HCICommand {
    /// The command's opcode: OGF 0x01, OCF 0x0006.
    public static let opcode = HCIOpcode.disconnect
    /// The connection to end.
    public var connectionHandle: ConnectionHandle
    /// The reason that is sent to the peer.
    public var reason: HCIStatus

    /// Creates the command. By default, the peer receives the reason Remote User Terminated Connection.
    public init(connectionHandle: ConnectionHandle, reason: HCIStatus = .remoteUserTerminatedConnection) {
        self.connectionHandle = connectionHandle
        self.reason = reason
    }

    /// Decodes the connection handle and the reason, three octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, reason) = try parameters.read()
    }

    /// Appends the connection handle and the reason, three octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, reason)
    }
}

/// Read Remote Version Information (Core 5.4, Vol 4, Part E, 7.1.23).
public struct ReadRemoteVersionInformation: HCIConnectionCommand {
    /// The command's opcode: OGF 0x01, OCF 0x001D.
    public static let opcode = HCIOpcode.readRemoteVersionInformation
    /// The connection.
    public var connectionHandle: ConnectionHandle

    /// Creates the command for this connection.
    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }
}
