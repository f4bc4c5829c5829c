import BluetoothBase

/// LE Encrypt (Core 5.4, Vol 4, Part E, 7.8.22): one block of AES-128.
public struct LEEncrypt: HCICommand {
    public static let opcode = HCIOpcode.leEncrypt
    /// The 128-bit key.
    public var key: UInt128
    /// The block to encrypt.
    public var plaintext: UInt128

    public init(key: UInt128, plaintext: UInt128) {
        self.key = key
        self.plaintext = plaintext
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (key, plaintext) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: key, plaintext)
    }

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The encrypted block.
        public var encryptedData: UInt128

        public init(encryptedData: UInt128) {
            self.encryptedData = encryptedData
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            encryptedData = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: encryptedData)
        }
    }
}

/// LE Rand (Core 5.4, Vol 4, Part E, 7.8.23).
public struct LERand: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leRand
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// 64 random bits.
        public var randomNumber: UInt64

        public init(randomNumber: UInt64) {
            self.randomNumber = randomNumber
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            randomNumber = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: randomNumber)
        }
    }
}

/// LE Enable Encryption (Core 5.4, Vol 4, Part E, 7.8.24): starts encryption, or renews its key; Encryption Change
/// follows.
public struct LEEnableEncryption: HCICommand {
    public static let opcode = HCIOpcode.leEnableEncryption
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The Rand of the key; 0 for a key of LE Secure Connections.
    public var randomNumber: UInt64
    /// The EDIV of the key; 0 for a key of LE Secure Connections.
    public var encryptedDiversifier: UInt16
    /// The Long Term Key.
    public var longTermKey: UInt128

    public init(
        connectionHandle: ConnectionHandle,
        randomNumber: UInt64 = 0,
        encryptedDiversifier: UInt16 = 0,
        longTermKey: UInt128
    ) {
        self.connectionHandle = connectionHandle
        self.randomNumber = randomNumber
        self.encryptedDiversifier = encryptedDiversifier
        self.longTermKey = longTermKey
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, randomNumber, encryptedDiversifier, longTermKey) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, randomNumber, encryptedDiversifier, longTermKey)
    }
}

/// LE Long Term Key Request Reply (Core 5.4, Vol 4, Part E, 7.8.25).
public struct LELongTermKeyRequestReply: HCICommand {
    public static let opcode = HCIOpcode.leLongTermKeyRequestReply
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The Long Term Key.
    public var longTermKey: UInt128

    public init(connectionHandle: ConnectionHandle, longTermKey: UInt128) {
        self.connectionHandle = connectionHandle
        self.longTermKey = longTermKey
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, longTermKey) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, longTermKey)
    }
}

/// LE Long Term Key Request Negative Reply (Core 5.4, Vol 4, Part E, 7.8.26).
public struct LELongTermKeyRequestNegativeReply: HCIConnectionCommand {
    public static let opcode = HCIOpcode.leLongTermKeyRequestNegativeReply
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle

    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }
}
