import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// A link to another device, and the GATT client on it. It does not matter which side made the connection.
///
/// Copies name the same link. The link lives until one side ends it, or the peer is lost; letting go of this value does not end
/// it.
public struct Connection: Sendable {
    let adapter: Adapter
    let link: LinkIdentifier
    /// The peer's address.
    public let peer: DeviceAddress
    /// The part this device plays on the link.
    public let role: LinkRole

    /// ATT_MTU: no PDU on the link is longer, in octets.
    public var mtu: Int {
        get async throws(BluetoothError) { try await adapter.information(of: link).mtu }
    }

    /// The connection parameters the link has now.
    public var parameters: CurrentConnectionParameters {
        get async throws(BluetoothError) { try await adapter.information(of: link).parameters }
    }

    /// How strongly this device hears the peer, in dBm; nil where the controller cannot tell (Core 5.4, Vol 4, Part E,
    /// 7.5.4).
    public func readRSSI() async throws(BluetoothError) -> Int? {
        try await adapter.readRSSI(of: link)
    }

    /// Asks for other connection parameters, and waits until they hold. A central decides by itself; a peripheral asks its
    /// central, which may refuse.
    public func updateParameters(_ parameters: ConnectionParameters) async throws(BluetoothError) {
        try await adapter.updateParameters(parameters, of: link)
    }

    /// Ends the link, and waits until it has ended. Does nothing where it has.
    public func disconnect() async throws(BluetoothError) {
        try await adapter.disconnectAndWait(link)
    }

    /// Waits until the link has ended, whoever ends it.
    @discardableResult
    public func waitForDisconnection() async throws(BluetoothError) -> DisconnectReason {
        try await adapter.waitForEnd(of: link)
    }
}

extension Connection: Hashable {
    public static func == (lhs: Connection, rhs: Connection) -> Bool {
        lhs.adapter === rhs.adapter && lhs.link == rhs.link
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(link)
    }
}
