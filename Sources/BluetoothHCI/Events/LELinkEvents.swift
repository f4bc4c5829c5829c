import BluetoothBase

/// LE Read Remote Features Complete (Core 5.4, Vol 4, Part E, 7.7.65.4).
public struct LEReadRemoteFeaturesComplete: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x04.
    public static var subeventCode: LESubeventCode { .readRemoteFeaturesComplete }
    /// Whether the features were read.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The features that the peer supports.
    public var features: LEFeatures

    /// Creates the event with the features of the peer, by default with success.
    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, features: LEFeatures) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.features = features
    }

    /// Decodes the status, the connection handle and the features, 11 octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, features) = try parameters.read()
    }

    /// Appends the status, the connection handle and the features, 11 octets.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, features)
    }
}

/// LE Data Length Change (Core 5.4, Vol 4, Part E, 7.7.65.7).
public struct LEDataLengthChange: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x07.
    public static var subeventCode: LESubeventCode { .dataLengthChange }
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The maximum length of PDUs that this device sends.
    public var transmit: LEDataLength
    /// The maximum length of PDUs that this device expects to receive.
    public var receive: LEDataLength

    /// Creates the event with the lengths now in use on a connection.
    public init(connectionHandle: ConnectionHandle, transmit: LEDataLength, receive: LEDataLength) {
        self.connectionHandle = connectionHandle
        self.transmit = transmit
        self.receive = receive
    }

    /// Decodes the connection handle, the transmit length and the receive length, 10 octets. Throws if octets are
    /// missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, transmit, receive) = try parameters.read()
    }

    /// Appends the connection handle, the transmit length and the receive length, 10 octets.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, transmit, receive)
    }
}

/// LE PHY Update Complete (Core 5.4, Vol 4, Part E, 7.7.65.12).
public struct LEPHYUpdateComplete: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x0C.
    public static var subeventCode: LESubeventCode { .phyUpdateComplete }
    /// Whether the update succeeded.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The transmitter PHY.
    public var transmit: LEPHY
    /// The receiver PHY.
    public var receive: LEPHY

    /// Creates the event with the PHYs now in use, by default with success.
    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, transmit: LEPHY, receive: LEPHY) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.transmit = transmit
        self.receive = receive
    }

    /// Decodes five octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, transmit, receive) = try parameters.read()
    }

    /// Appends the five octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, transmit, receive)
    }
}
