import FuzzDriver

/// Something of ble-bus that receives bytes from the air or from a client, and what must hold for any bytes.
///
/// Not trapping is only the minimum: each target also states its invariants, and throws if one fails.
enum FuzzTarget: String, FuzzTargetProtocol {
    /// Values of any type: a message carries them, and the receiver reads the same.
    case values
    /// What devices advertise, as properties in a message.
    case advertised
    /// The arguments of clients' calls, and the properties of their objects.
    case arguments

    /// Runs one input.
    ///
    /// - Throws: if an invariant fails.
    func run(_ bytes: Span<UInt8>) throws {
        var script = Script(bytes)
        switch self {
        case .values: try fuzzValues(&script)
        case .advertised: try fuzzAdvertised(&script)
        case .arguments: fuzzArguments(&script)
        }
    }

    static func seeds(from captures: [[UInt8]]) -> [FuzzTarget: [[UInt8]]] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.seeds) })
    }

    /// Inputs to start from.
    private var seeds: [[UInt8]] {
        switch self {
        case .values: [Array(0..<64), [10, 4, 0xFF, 0xFE, 0x00, 0x41], [13, 3, 10, 2, 0xEF, 0xBF, 13, 1, 9]]
        case .advertised: [[9, 2, 1, 6, 5, 9, 0x41, 0x42, 0x43, 0x44, 0, 7, 6, 0xFF, 0x4C, 0, 1, 2, 3]]
        case .arguments: [Array(0..<64), [15, 2, 10, 4, 85, 85, 73, 68, 11, 0]]
        }
    }
}
