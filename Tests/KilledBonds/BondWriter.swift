import BluetoothAdapter
import BluetoothPlatform

/// Writes bonds until it is killed, or is what kills the writers; see Scripts/kill-bonds.
@main
struct BondWriter {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "write":
            let numbers = arguments.dropFirst(2).compactMap { Int($0) }
            guard let directory = arguments.dropFirst().first, numbers.count == 2 else { break }
            write(in: directory, lane: numbers[0], from: UInt32(numbers[1]))
        case "kill":
            guard let count = arguments.dropFirst().first.flatMap({ Int($0) }), count > 0 else { break }
            let seed = arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? .random(in: 0...0xFFFF)
            kill(count, seed: seed)
        default: break
        }
        say("usage: bond-writer kill COUNT [SEED]")
        exit(2)
    }

    /// Says before each change what it will be, and after it that it is done: `b PEER SEQUENCE`, then `e`.
    private static func write(in directory: String, lane: Int, from first: UInt32) -> Never {
        let store = FileBondStore(directory: directory, patience: .seconds(60))
        do {
            for sequence in first... {
                let change = Change(lane: lane, sequence: sequence)
                say("b \(change.peer) \(sequence)")
                switch change.bond {
                case let bond?: try store.save(bond, of: Change.identity)
                case nil: try store.remove(change.peerID, of: Change.identity)
                }
                say("e")
            }
        } catch {
            say("x \(error)")
        }
        exit(1)
    }

    private static func kill(_ count: Int, seed: UInt64) -> Never {
        var run = KillingRun(seed: seed)
        do {
            while run.kills < count { try run.kill(writers: run.kills < count / 2 ? 1 : 2) }
            try run.end()
        } catch {
            say("after \(run.kills) kills, seed \(seed): \(error)")
            exit(1)
        }
        say(
            "\(run.kills) kills, \(run.killsInChange) of them in the middle of a change: \(run.changes) changes, "
                + "0 lost, 0 torn")
        exit(0)
    }

    /// Writes a line, which leaves at once.
    private static func say(_ line: String) {
        let bytes = [UInt8]((line + "\n").utf8)
        _ = BluetoothPlatform.write(STDOUT_FILENO, bytes, bytes.count)
    }
}
