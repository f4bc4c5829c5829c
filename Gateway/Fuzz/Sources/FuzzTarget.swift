/// Something of the gateway that receives bytes from the air, from a client, from the broker or from a file, and what
/// must hold for any bytes.
///
/// Not trapping is only the minimum: each target also states its invariants, and throws if one fails.
enum FuzzTarget: String, CaseIterable {
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
    func run(_ bytes: [UInt8]) throws {
        var script = Script(bytes)
        switch self {
        case .plaintext: try fuzzPlaintext(&script)
        case .noise: try fuzzNoise(&script)
        case .advertisement: try fuzzAdvertisement(&script)
        case .request: try fuzzRequest(bytes)
        case .replay: try fuzzReplay(bytes)
        case .configuration: try fuzzConfiguration(bytes)
        }
    }

    /// Inputs to start from.
    var seeds: [[UInt8]] {
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

/// An invariant that failed.
struct FuzzViolation: Error, CustomStringConvertible {
    var description: String
}

/// Throws unless `condition` holds.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    guard condition else { throw FuzzViolation(description: message()) }
}

/// A fuzzer's bytes as a script: numbers for choices, and pieces of data. It never runs out: missing numbers read as
/// zero, and missing data as empty.
struct Script {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// A number from 0 to below `count`.
    mutating func choice(of count: Int) -> Int { Int(byte()) % count }

    /// A piece of data, preceded by its length in one octet.
    mutating func chunk() -> [UInt8] {
        let length = min(Int(byte()), rest.count)
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }

    /// Steps of a script that are carried out.
    static let limit = 64
}
