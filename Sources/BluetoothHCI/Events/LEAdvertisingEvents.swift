import BluetoothBase

/// LE Advertising Set Terminated (Core 5.4, Vol 4, Part E, 7.7.65.18).
public struct LEAdvertisingSetTerminated: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x12.
    public static var subeventCode: LESubeventCode { .advertisingSetTerminated }
    /// Success if a connection was created; `advertisingTimeout` if the duration has elapsed; `limitReached` if the
    /// maximum number of events has been sent.
    public var status: HCIStatus
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The new connection. Meaningful only if `status` is success.
    public var connectionHandle: ConnectionHandle
    /// The number of advertising events sent, if their number was limited; otherwise 0.
    public var numCompletedExtendedAdvertisingEvents: UInt8

    /// Creates the event, by default for a set that ended because a connection was created.
    public init(
        status: HCIStatus = .success,
        advertisingHandle: AdvertisingHandle,
        connectionHandle: ConnectionHandle,
        numCompletedExtendedAdvertisingEvents: UInt8 = 0
    ) {
        self.status = status
        self.advertisingHandle = advertisingHandle
        self.connectionHandle = connectionHandle
        self.numCompletedExtendedAdvertisingEvents = numCompletedExtendedAdvertisingEvents
    }

    /// Decodes five octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, advertisingHandle, connectionHandle, numCompletedExtendedAdvertisingEvents) = try parameters.read()
    }

    /// Appends the five octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, advertisingHandle, connectionHandle, numCompletedExtendedAdvertisingEvents)
    }
}

/// LE Scan Request Received (Core 5.4, Vol 4, Part E, 7.7.65.19).
public struct LEScanRequestReceived: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x13.
    public static var subeventCode: LESubeventCode { .scanRequestReceived }
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The scanner's address.
    public var scannerAddress: DeviceAddress

    /// Creates the report of a scan request that the set received from this scanner.
    public init(advertisingHandle: AdvertisingHandle, scannerAddress: DeviceAddress) {
        self.advertisingHandle = advertisingHandle
        self.scannerAddress = scannerAddress
    }

    /// Decodes the advertising handle and the scanner's address, eight octets. Throws if octets are missing, or if the
    /// address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, scannerAddress) = try parameters.read()
    }

    /// Appends the advertising handle and the scanner's address, eight octets.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, scannerAddress)
    }
}

/// LE Scan Timeout (Core 5.4, Vol 4, Part E, 7.7.65.17): an extended scan with a duration has ended.
public struct LEScanTimeout: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x11.
    public static var subeventCode: LESubeventCode { .scanTimeout }

    /// Creates the event, which has no parameters.
    public init() {}

    /// Appends nothing. The event has no parameters after the subevent code.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {}
}
