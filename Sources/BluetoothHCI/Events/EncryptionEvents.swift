import BluetoothBase

/// Encryption Change [v1] (Core 5.4, Vol 4, Part E, 7.7.8).
public struct EncryptionChange: HCIEventBody, Equatable, Sendable {
    public static var code: HCIEventCode { .encryptionChange }
    /// Whether encryption was changed.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether the connection is encrypted now.
    public var encryption: Encryption

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, encryption: Encryption) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.encryption = encryption
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, encryption) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, encryption)
    }
}

/// Encryption Change [v2] (Core 5.4, Vol 4, Part E, 7.7.8).
public struct EncryptionChangeV2: HCIEventBody, Equatable, Sendable {
    public static var code: HCIEventCode { .encryptionChangeV2 }
    /// Whether encryption was changed.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether the connection is encrypted now.
    public var encryption: EncryptionChange.Encryption
    /// The size of the key, in octets, 7 to 16.
    public var keySize: UInt8

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, encryption, keySize) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, encryption, keySize)
    }
}

/// Encryption Key Refresh Complete (Core 5.4, Vol 4, Part E, 7.7.39).
public struct EncryptionKeyRefreshComplete: HCIEventBody, Equatable, Sendable {
    public static var code: HCIEventCode { .encryptionKeyRefreshComplete }
    /// Whether the key was changed.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle) {
        self.status = status
        self.connectionHandle = connectionHandle
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle)
    }
}

/// LE Long Term Key Request (Core 5.4, Vol 4, Part E, 7.7.65.5): the central wants the link encrypted, and the
/// controller asks for the key.
public struct LELongTermKeyRequest: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .longTermKeyRequest }
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The Rand of the key; 0 for a key of LE Secure Connections.
    public var randomNumber: UInt64
    /// The EDIV of the key; 0 for a key of LE Secure Connections.
    public var encryptedDiversifier: UInt16

    public init(connectionHandle: ConnectionHandle, randomNumber: UInt64, encryptedDiversifier: UInt16) {
        self.connectionHandle = connectionHandle
        self.randomNumber = randomNumber
        self.encryptedDiversifier = encryptedDiversifier
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, randomNumber, encryptedDiversifier) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, randomNumber, encryptedDiversifier)
    }
}

extension EncryptionChange {
    /// Whether, and how, a link is encrypted.
    public struct Encryption: RawRepresentable, Hashable, Sendable {
        public var rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Not encrypted.
        public static let off = Encryption(rawValue: 0)
        /// AES-CCM on an LE link.
        public static let on = Encryption(rawValue: 1)
    }
}

extension EncryptionChange.Encryption: HCIParameter {}
