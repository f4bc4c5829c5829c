import BluetoothBase

/// A command the host sends to the controller: its parameters, encoded and decoded, and what the controller returns
/// (Core 5.4, Vol 4, Part E, 7).
public protocol HCICommand: Equatable, Sendable {
    /// What a Command Complete event returns after the status octet. `NoReturnParameters` if there is nothing, or if
    /// the controller answers with Command Status.
    associatedtype ReturnParameters: HCIReturnParameters = NoReturnParameters

    /// The command's opcode.
    static var opcode: HCIOpcode { get }

    /// Reads the command's parameters, and nothing after them.
    init(decoding parameters: inout ByteReader) throws(DecodingFailure)

    /// Appends the command's parameters, without the command header.
    func encodeParameters(into writer: inout ByteWriter)
}

/// What follows the status octet in the return parameters of a Command Complete event.
public protocol HCIReturnParameters: Equatable, Sendable {
    init(decoding parameters: inout ByteReader) throws(DecodingFailure)
    func encode(into writer: inout ByteWriter)
}

extension HCICommand {
    /// Appends the whole packet, H4 indicator first (Vol 4, Part E, 5.4.1).
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
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) { self.init() }
    public func encodeParameters(into writer: inout ByteWriter) {}
}

/// A command whose only parameter is the connection it is about.
public protocol HCIConnectionCommand: HCICommand {
    /// The connection the command is about.
    var connectionHandle: ConnectionHandle { get set }
    init(connectionHandle: ConnectionHandle)
}

extension HCIConnectionCommand {
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        self.init(connectionHandle: try parameters.read())
    }
    public func encodeParameters(into writer: inout ByteWriter) { writer.append(parameters: connectionHandle) }
}

/// Only a status octet.
public struct NoReturnParameters: HCIReturnParameters {
    public init() {}
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {}
    public func encode(into writer: inout ByteWriter) {}
}

/// A status octet and the connection the command was about.
public struct ConnectionHandleReturnParameters: HCIReturnParameters {
    /// The connection the command was about.
    public var connectionHandle: ConnectionHandle

    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        connectionHandle = try parameters.read()
    }

    public func encode(into writer: inout ByteWriter) { writer.append(parameters: connectionHandle) }
}
