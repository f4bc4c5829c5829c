import BluetoothBase

/// An event the controller sends (Core 5.4, Vol 4, Part E, 7.7). A view: it borrows the bytes it was decoded from.
public enum HCIEvent: ~Escapable {
    case disconnectionComplete(DisconnectionComplete)
    /// An event this package has no type for, kept as it came.
    case unknown(code: UInt8, parameters: Span<UInt8>)

    /// Decodes an event packet without its H4 indicator: event code, length, parameters.
    @_lifetime(copy packet)
    public init(decoding packet: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(packet)
        let code = try reader.readUInt8()
        let length = Int(try reader.readUInt8())
        guard length == reader.remaining else { throw DecodingFailure(.invalidLength, at: 1) }
        switch code {
        case DisconnectionComplete.code: self = .disconnectionComplete(try DisconnectionComplete(decoding: &reader))
        default: self = .unknown(code: code, parameters: reader.readRemaining())
        }
    }
}

/// Disconnection Complete (Core 5.4, Vol 4, Part E, 7.7.5).
public struct DisconnectionComplete: Equatable, Sendable {
    public static let code: UInt8 = 0x05
    public var status: UInt8
    public var connectionHandle: UInt16
    public var reason: UInt8

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        status = try parameters.readUInt8()
        connectionHandle = try parameters.readUInt16()
        reason = try parameters.readUInt8()
    }
}
