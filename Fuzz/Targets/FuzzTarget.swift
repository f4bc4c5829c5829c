import BluetoothBase

/// Something that receives bytes from the air or from a controller, and what must hold for any bytes.
///
/// Not trapping is only the minimum: each target also states its invariants, and throws if one fails.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// The H4 framer, its stream in pieces of any size.
    case framer
    /// One HCI packet of any type, decoded and encoded.
    case packet
    /// The reassembly of L2CAP frames from ACL data.
    case reassembly
    /// The L2CAP signalling channel, and its commands.
    case signalling
    /// The credit-based channels of a link, with a peer that sends anything.
    case channels
    /// The enhanced ATT bearers of a link, with a peer that sends anything.
    case bearers
    /// One ATT PDU, decoded and encoded.
    case attribute
    /// The GATT server, with a client that sends anything.
    case server
    /// The GATT client, with a server that answers anything.
    case client
    /// The security manager of a link, with a peer that sends anything.
    case pairing
    /// Advertising data, decoded and encoded.
    case advertising
    /// The values of characteristics with a known layout.
    case values
    /// The document of a device, in JSON.
    case document
    /// The table of devices a scan has seen.
    case sightings
    /// The reader of captures: btsnoop, pcap and pcapng.
    case snoop
    /// The dissector.
    case trace
    /// The whole host, with a controller that sends anything.
    case host

    /// Runs one input.
    ///
    /// - Throws: if an invariant fails.
    public func run(_ bytes: Span<UInt8>) throws(FuzzViolation) {
        var input = FuzzInput(bytes)
        switch self {
        case .framer: try fuzzFramer(&input)
        case .packet: try fuzzPacket(bytes)
        case .reassembly: try fuzzReassembly(&input)
        case .signalling: try fuzzSignalling(&input)
        case .channels: try fuzzChannels(&input)
        case .bearers: try fuzzBearers(&input)
        case .attribute: try fuzzAttribute(bytes)
        case .server: try fuzzServer(&input)
        case .client: try fuzzClient(&input)
        case .pairing: try fuzzPairing(&input)
        case .advertising: try fuzzAdvertising(bytes)
        case .values: try fuzzValues(bytes)
        case .document: try fuzzDocument(bytes)
        case .sightings: try fuzzSightings(&input)
        case .snoop: try fuzzSnoop(&input)
        case .trace: try fuzzTrace(&input)
        case .host: try fuzzHost(&input)
        }
    }
}

/// An invariant that failed.
public struct FuzzViolation: Error, CustomStringConvertible {
    /// The failure, such as `a command packet changes`.
    public var description: String
}

/// Throws unless `condition` holds.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(FuzzViolation) {
    guard condition else { throw FuzzViolation(description: message()) }
}
