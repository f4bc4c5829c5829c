import BluetoothBase

/// A command that the host sends to the controller, with its parameters and the type of its return parameters (Core
/// 5.4, Vol 4, Part E, 7).
public protocol HCICommand: Equatable, Sendable {
    /// The return parameters in a Command Complete event, after the status octet. `NoReturnParameters` if the command
    /// has none, or if the controller responds with Command Status.
    associatedtype ReturnParameters: HCIReturnParameters = NoReturnParameters

    /// The command's opcode.
    static var opcode: HCIOpcode { get }

    /// Decodes the command's parameters. Octets after them are not read.
    init(decoding parameters: inout ByteReader) throws(DecodingFailure)

    /// Appends the command's parameters, without the command header.
    func encodeParameters(into writer: inout ByteWriter)
}

/// The return parameters of a Command Complete event, after the status octet.
public protocol HCIReturnParameters: Equatable, Sendable {
    init(decoding parameters: inout ByteReader) throws(DecodingFailure)
    func encode(into writer: inout ByteWriter)
}

extension HCICommand {
    /// Appends the complete packet, starting with its H4 indicator (Vol 4, Part E, 5.4.1).
    public func encodePacket(into writer: inout ByteWriter) {
        writer.append(HCIPacketType.command.rawValue)
        writer.append(Self.opcode.rawValue)
        let lengthOffset = writer.count
        writer.append(UInt8(0))
        encodeParameters(into: &writer)
        writer.overwrite(UInt8(truncatingIfNeeded: writer.count - lengthOffset - 1), at: lengthOffset)
    }
}

// MARK: - Common shapes

/// A command without parameters.
public protocol HCIParameterlessCommand: HCICommand {
    init()
}

extension HCIParameterlessCommand {
    /// Creates the command. Nothing is read.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) { self.init() }

    /// Appends nothing.
    public func encodeParameters(into writer: inout ByteWriter) {}
}

/// A command whose only parameter is a connection handle.
public protocol HCIConnectionCommand: HCICommand {
    /// The connection that the command applies to.
    var connectionHandle: ConnectionHandle { get set }
    init(connectionHandle: ConnectionHandle)
}

extension HCIConnectionCommand {
    /// Decodes the connection handle, two octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        self.init(connectionHandle: try parameters.read())
    }

    /// Appends the connection handle, two octets.
    public func encodeParameters(into writer: inout ByteWriter) { writer.append(parameters: connectionHandle) }
}

/// Return parameters that consist of a status octet only.
public struct NoReturnParameters: HCIReturnParameters {
    /// Creates empty return parameters.
    public init() {}

    /// Creates empty return parameters. Nothing is read.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {}

    /// Appends nothing.
    public func encode(into writer: inout ByteWriter) {}
}

/// Return parameters that consist of a status octet and a connection handle.
public struct ConnectionHandleReturnParameters: HCIReturnParameters {
    /// The connection that the command applied to.
    public var connectionHandle: ConnectionHandle

    /// Creates the return parameters for this connection.
    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }

    /// Decodes the connection handle, two octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        connectionHandle = try parameters.read()
    }

    /// Appends the connection handle, two octets.
    public func encode(into writer: inout ByteWriter) { writer.append(parameters: connectionHandle) }
}
