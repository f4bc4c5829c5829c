import BluetoothBase

/// LE Read Remote Features Complete (Core 5.4, Vol 4, Part E, 7.7.65.4).
public struct LEReadRemoteFeaturesComplete: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .readRemoteFeaturesComplete }
    /// Whether the features were read.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The features the peer supports.
    public var features: LEFeatures

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, features: LEFeatures) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.features = features
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, features) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, features)
    }
}

/// LE Data Length Change (Core 5.4, Vol 4, Part E, 7.7.65.7).
public struct LEDataLengthChange: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .dataLengthChange }
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The longest PDUs this device sends.
    public var transmit: LEDataLength
    /// The longest PDUs this device expects to receive.
    public var receive: LEDataLength

    public init(connectionHandle: ConnectionHandle, transmit: LEDataLength, receive: LEDataLength) {
        self.connectionHandle = connectionHandle
        self.transmit = transmit
        self.receive = receive
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, transmit, receive) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, transmit, receive)
    }
}

/// LE PHY Update Complete (Core 5.4, Vol 4, Part E, 7.7.65.12).
public struct LEPHYUpdateComplete: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .phyUpdateComplete }
    /// Whether the update succeeded.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The PHY used for sending.
    public var transmit: LEPHY
    /// The PHY used for receiving.
    public var receive: LEPHY

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, transmit: LEPHY, receive: LEPHY) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.transmit = transmit
        self.receive = receive
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, transmit, receive) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, transmit, receive)
    }
}
