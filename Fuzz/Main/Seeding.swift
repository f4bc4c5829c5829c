import BluetoothBase
import BluetoothHCI
import FuzzDriver
import FuzzTargets

extension FuzzTarget: FuzzTargetProtocol {
    /// Seeds made from packets of other stacks.
    public static func seeds(from captures: [[UInt8]]) -> [FuzzTarget: [[UInt8]]] {
        var seeds: [FuzzTarget: [[UInt8]]] = [:]
        for capture in captures {
            guard let packets = packets(of: capture) else { fatalError("cannot read a capture") }
            for target in FuzzTarget.allCases {
                seeds[target, default: []] += target.seeds(from: packets, file: capture)
            }
        }
        return seeds
    }
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
