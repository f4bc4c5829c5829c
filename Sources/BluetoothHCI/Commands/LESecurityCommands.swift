import BluetoothBase

/// LE Encrypt (Core 5.4, Vol 4, Part E, 7.8.22): encrypts one block with AES-128.
public struct LEEncrypt: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0017.
    public static let opcode = HCIOpcode.leEncrypt
    /// The 128-bit key.
    public var key: UInt128
    /// The block to encrypt.
    public var plaintext: UInt128

    /// Creates the command. The most significant octet of each value is the first octet in FIPS-197 notation.
    public init(key: UInt128, plaintext: UInt128) {
        self.key = key
        self.plaintext = plaintext
    }

    /// Decodes the key and the plaintext, 16 octets each. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (key, plaintext) = try parameters.read()
    }

    /// Appends the key and the plaintext, 16 octets each, least significant octet first.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: key, plaintext)
    }

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The encrypted block.
        public var encryptedData: UInt128

        /// Creates the return parameters that a controller sends with this ciphertext.
        public init(encryptedData: UInt128) {
            self.encryptedData = encryptedData
        }

        /// Decodes the 16 octets of the ciphertext. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            encryptedData = try parameters.read()
        }

        /// Appends the ciphertext, 16 octets, least significant octet first.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: encryptedData)
        }
    }
}

/// LE Rand (Core 5.4, Vol 4, Part E, 7.8.23).
public struct LERand: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0018.
    public static let opcode = HCIOpcode.leRand

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// 64 random bits.
        public var randomNumber: UInt64

        /// Creates the return parameters that a controller sends with this random number.
        public init(randomNumber: UInt64) {
            self.randomNumber = randomNumber
        }

        /// Decodes the 8 octets of the random number. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            randomNumber = try parameters.read()
        }

        /// Appends the random number, 8 octets, least significant octet first.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: randomNumber)
        }
    }
}

/// LE Enable Encryption (Core 5.4, Vol 4, Part E, 7.8.24): starts encryption or refreshes its key. Encryption Change or
/// Encryption Key Refresh Complete follows.
public struct LEEnableEncryption: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0019.
    public static let opcode = HCIOpcode.leEnableEncryption
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The Rand value of the key; 0 for an LE Secure Connections key.
    public var randomNumber: UInt64
    /// The EDIV value of the key; 0 for an LE Secure Connections key.
    public var encryptedDiversifier: UInt16
    /// The Long Term Key.
    public var longTermKey: UInt128

    /// Creates the command. The defaults for Rand and EDIV are the values for an LE Secure Connections key.
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

    /// Decodes 28 octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, randomNumber, encryptedDiversifier, longTermKey) = try parameters.read()
    }

    /// Appends the handle, Rand, EDIV and the key: 28 octets, each value least significant octet first.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, randomNumber, encryptedDiversifier, longTermKey)
    }
}

/// LE Long Term Key Request Reply (Core 5.4, Vol 4, Part E, 7.8.25).
public struct LELongTermKeyRequestReply: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x001A.
    public static let opcode = HCIOpcode.leLongTermKeyRequestReply
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The Long Term Key.
    public var longTermKey: UInt128

    /// Creates the reply to an LE Long Term Key Request event for this connection.
    public init(connectionHandle: ConnectionHandle, longTermKey: UInt128) {
        self.connectionHandle = connectionHandle
        self.longTermKey = longTermKey
    }

    /// Decodes the handle and the key, 18 octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, longTermKey) = try parameters.read()
    }

    /// Appends the handle and the key, 18 octets, each value least significant octet first.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, longTermKey)
    }
}

/// LE Long Term Key Request Negative Reply (Core 5.4, Vol 4, Part E, 7.8.26).
public struct LELongTermKeyRequestNegativeReply: HCIConnectionCommand {
    /// The command's opcode: OGF 0x08, OCF 0x001B.
    public static let opcode = HCIOpcode.leLongTermKeyRequestNegativeReply
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle

    /// Creates the reply to an LE Long Term Key Request event for which the host has no key.
    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }
}
