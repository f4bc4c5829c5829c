import BluetoothBase

/// Encryption Change [v1] (Core 5.4, Vol 4, Part E, 7.7.8).
public struct EncryptionChange: HCIEventBody, Equatable, Sendable {
    /// The event code, 0x08.
    public static var code: HCIEventCode { .encryptionChange }
    /// Whether the encryption was changed.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether the connection is now encrypted.
    public var encryption: Encryption

    /// Creates the event, by default with success.
    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, encryption: Encryption) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.encryption = encryption
    }

    /// Decodes the status, the connection handle and the encryption state, four octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, encryption) = try parameters.read()
    }

    /// Appends the status, the connection handle and the encryption state, four octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, encryption)
    }
}

/// Encryption Change [v2] (Core 5.4, Vol 4, Part E, 7.7.8).
public struct EncryptionChangeV2: HCIEventBody, Equatable, Sendable {
    /// The event code, 0x59.
    public static var code: HCIEventCode { .encryptionChangeV2 }
    /// Whether the encryption was changed.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether the connection is now encrypted.
    public var encryption: EncryptionChange.Encryption
    /// The size of the key, in octets, 7 to 16.
    public var keySize: UInt8

    /// Creates the event, by default with success. The key size is in octets.
    public init(
        status: HCIStatus = .success,
        connectionHandle: ConnectionHandle,
        encryption: EncryptionChange.Encryption,
        keySize: UInt8
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.encryption = encryption
        self.keySize = keySize
    }

    /// Decodes five octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, encryption, keySize) = try parameters.read()
    }

    /// Appends the five octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, encryption, keySize)
    }
}

/// Encryption Key Refresh Complete (Core 5.4, Vol 4, Part E, 7.7.39).
public struct EncryptionKeyRefreshComplete: HCIEventBody, Equatable, Sendable {
    /// The event code, 0x30.
    public static var code: HCIEventCode { .encryptionKeyRefreshComplete }
    /// Whether the key was changed.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle

    /// Creates the event, by default with success.
    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle) {
        self.status = status
        self.connectionHandle = connectionHandle
    }

    /// Decodes the status and the connection handle, three octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle) = try parameters.read()
    }

    /// Appends the status and the connection handle, three octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle)
    }
}

/// LE Long Term Key Request (Core 5.4, Vol 4, Part E, 7.7.65.5): the central starts encryption, and the controller
/// requests the key from the host.
public struct LELongTermKeyRequest: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x05.
    public static var subeventCode: LESubeventCode { .longTermKeyRequest }
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The Rand value of the key; 0 for an LE Secure Connections key.
    public var randomNumber: UInt64
    /// The EDIV value of the key; 0 for an LE Secure Connections key.
    public var encryptedDiversifier: UInt16

    /// Creates the request for the key that these Rand and EDIV values identify.
    public init(connectionHandle: ConnectionHandle, randomNumber: UInt64, encryptedDiversifier: UInt16) {
        self.connectionHandle = connectionHandle
        self.randomNumber = randomNumber
        self.encryptedDiversifier = encryptedDiversifier
    }

    /// Decodes the connection handle, Rand and EDIV, 12 octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, randomNumber, encryptedDiversifier) = try parameters.read()
    }

    /// Appends the connection handle, Rand and EDIV, 12 octets.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, randomNumber, encryptedDiversifier)
    }
}

extension EncryptionChange {
    /// Whether a link is encrypted, and how.
    public struct Encryption: RawRepresentable, Hashable, Sendable {
        /// The Encryption_Enabled parameter: 0 if the link is not encrypted, 1 if it is. Only BR/EDR links use 2.
        public var rawValue: UInt8

        /// Creates a value from the event parameter. Reserved values are kept.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Not encrypted.
        public static let off = Encryption(rawValue: 0)
        /// AES-CCM on an LE link.
        public static let on = Encryption(rawValue: 1)
    }
}

extension EncryptionChange.Encryption: HCIParameter {}
