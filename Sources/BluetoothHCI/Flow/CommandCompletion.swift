import BluetoothBase

/// The controller's answer to a command. A view: it borrows the bytes of the event.
public struct CommandCompletion: ~Escapable {
    /// The token passed to `CommandQueue.enqueue`.
    public var token: UInt64
    /// The command.
    public var opcode: HCIOpcode
    /// The outcome of the command or, for Command Status, whether the command was accepted. It is `.unspecifiedError`
    /// if the answer ends before its status. In that case the controller may have executed the command.
    public var status: HCIStatus
    /// Whether the answer is Command Complete. Otherwise it is Command Status, and `success` means that the command is
    /// still in progress.
    public var isComplete: Bool
    /// The return parameters after the status octet.
    public var returnParameters: Span<UInt8>

    @_lifetime(copy returnParameters)
    init(token: UInt64, opcode: HCIOpcode, status: HCIStatus, isComplete: Bool, returnParameters: Span<UInt8>) {
        self.token = token
        self.opcode = opcode
        self.status = status
        self.isComplete = isComplete
        self.returnParameters = returnParameters
    }

    /// Decodes the return parameters of `command`. A controller may omit them when it reports a failure, so check
    /// `status` first.
    public func decodeReturnParameters<Command: HCICommand>(
        of command: Command.Type
    ) throws(DecodingFailure) -> Command.ReturnParameters {
        guard opcode == Command.opcode else { throw DecodingFailure(.unknownCode(opcode.rawValue), at: 0) }
        var reader = ByteReader(returnParameters)
        return try Command.ReturnParameters(decoding: &reader)
    }
}

/// A command that was removed from the queue without an answer.
public struct AbandonedCommand: Equatable, Sendable {
    /// The token passed to `CommandQueue.enqueue`.
    public var token: UInt64
    /// The command.
    public var opcode: HCIOpcode

    /// Creates the record of a command that was removed without an answer.
    public init(token: UInt64, opcode: HCIOpcode) {
        self.token = token
        self.opcode = opcode
    }
}

/// The queue of commands is full.
public struct CommandQueueFull: Error, Equatable, Sendable {
    /// Creates the error, which carries no further information.
    public init() {}
}
