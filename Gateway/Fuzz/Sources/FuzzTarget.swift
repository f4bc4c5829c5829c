import FuzzDriver

/// Something of the gateway that receives bytes from the air, from a client, from the broker or from a file, and what
/// must hold for any bytes.
///
/// Not trapping is only the minimum: each target also states its invariants, and throws if one fails.
enum FuzzTarget: String, FuzzTargetProtocol {
    /// A conversation of ESPHome's API in the clear: frames and what a session makes of them.
    case plaintext
    /// A conversation that is encrypted: handshake, frames that are honest, wrong inside or changed on the way.
    case noise
    /// What devices advertise, through decoders, pipeline and presets.
    case advertisement
    /// A request by way of the broker.
    case request
    /// A line of packets that were recorded.
    case replay
    /// The configuration file.
    case configuration

    /// Runs one input.
    ///
    /// - Throws: if an invariant fails.
    func run(_ bytes: Span<UInt8>) throws {
        var script = Script(bytes)
        switch self {
        case .plaintext: try fuzzPlaintext(&script)
        case .noise: try fuzzNoise(&script)
        case .advertisement: try fuzzAdvertisement(&script)
        case .request: try fuzzRequest(script.remainder())
        case .replay: try fuzzReplay(script.remainder())
        case .configuration: try fuzzConfiguration(script.remainder())
        }
    }

    static func seeds(from captures: [[UInt8]]) -> [FuzzTarget: [[UInt8]]] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.seeds) })
    }

    /// Inputs to start from.
    private var seeds: [[UInt8]] {
        switch self {
        case .plaintext: plaintextSeeds
        case .noise: noiseSeeds
        case .advertisement: advertisementSeeds
        case .request: requestSeeds.map { Array($0.utf8) }
        case .replay: replaySeeds.map { Array($0.utf8) }
        case .configuration: configurationSeeds.map { Array($0.utf8) }
        }
    }
}
