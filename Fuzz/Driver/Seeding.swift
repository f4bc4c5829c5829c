import BluetoothBase
import BluetoothHCI
import FuzzTargets
import Glibc

/// Writes the seeds of every target into a directory per target.
func writeSeeds(into directory: String, from captures: [String]) {
    for target in FuzzTarget.allCases { mkdir("\(directory)/\(target.rawValue)", 0o755) }
    for capture in captures {
        guard let file = contents(of: capture), let packets = packets(of: file) else {
            fatalError("cannot read \(capture)")
        }
        for target in FuzzTarget.allCases {
            for seed in target.seeds(from: packets, file: file) where !seed.isEmpty {
                // Named by its contents, so that seeds found in many captures are written once.
                write(seed, to: "\(directory)/\(target.rawValue)/\(name(of: seed))")
            }
        }
    }
}

/// Ends the process without the report libFuzzer makes of an early exit.
func leave() -> Never {
    fflush(nil)
    _exit(0)
}

private func packets(of file: [UInt8]) -> [SeedPacket]? {
    var reader = BTSnoopReader()
    reader.append(file.span)
    var packet = ByteWriter()
    var packets: [SeedPacket] = []
    do throws(DecodingFailure) {
        while let record = try reader.next(into: &packet) {
            // The monitor writes notes between the packets of several adapters.
            if record.type == nil { continue }
            packets.append(SeedPacket(isFromController: record.direction == .received, bytes: packet.bytes))
        }
    } catch {
        return nil
    }
    return packets
}

/// The FNV-1a hash.
private func name(of seed: [UInt8]) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in seed { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hexadecimal(hash, digits: 16)
}

private func contents(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = fread(&piece, 1, piece.count, file)
        guard count > 0 else { return bytes }
        bytes += piece[0..<count]
    }
}

private func write(_ bytes: [UInt8], to path: String) {
    guard let file = fopen(path, "wb") else { fatalError("cannot write \(path)") }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
}
