import BluetoothBase

/// LE Advertising Set Terminated (Core 5.4, Vol 4, Part E, 7.7.65.18).
public struct LEAdvertisingSetTerminated: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .advertisingSetTerminated }
    /// Success if a connection was made; `advertisingTimeout` if the duration has elapsed, `limitReached` if the events
    /// are used up.
    public var status: HCIStatus
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The connection that was made. Meaningful only if `status` is success.
    public var connectionHandle: ConnectionHandle
    /// How many advertising events were sent, if their number was limited; otherwise 0.
    public var numCompletedExtendedAdvertisingEvents: UInt8

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, advertisingHandle, connectionHandle, numCompletedExtendedAdvertisingEvents) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, advertisingHandle, connectionHandle, numCompletedExtendedAdvertisingEvents)
    }
}

/// LE Scan Request Received (Core 5.4, Vol 4, Part E, 7.7.65.19).
public struct LEScanRequestReceived: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .scanRequestReceived }
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The scanner's address.
    public var scannerAddress: DeviceAddress

    public init(advertisingHandle: AdvertisingHandle, scannerAddress: DeviceAddress) {
        self.advertisingHandle = advertisingHandle
        self.scannerAddress = scannerAddress
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, scannerAddress) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, scannerAddress)
    }
}

/// LE Scan Timeout (Core 5.4, Vol 4, Part E, 7.7.65.17): an extended scan with a duration has ended.
public struct LEScanTimeout: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .scanTimeout }
    public init() {}
    public func encodeSubeventParameters(into writer: inout ByteWriter) {}
}
