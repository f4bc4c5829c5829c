import BluetoothBase
import BluetoothHCI
import Foundation
import FuzzReplay
import Testing

@Suite("Fixtures: fuzz targets")
struct FuzzReplayTests {
    /// An input that once failed.
    struct Crash: Sendable, CustomTestStringConvertible {
        var target: FuzzTarget
        var name: String
        var bytes: [UInt8]

        var testDescription: String { "\(target.rawValue)/\(name)" }

        static let directory = Capture.directory.deletingLastPathComponent().appending(path: "Fuzz/Crashes")

        static let all: [Crash] = FuzzTarget.allCases.flatMap { target -> [Crash] in
            let folder = directory.appending(path: target.rawValue)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            return names.sorted().compactMap { name -> Crash? in
                guard let data = try? Data(contentsOf: folder.appending(path: name)) else { return nil }
                return Crash(target: target, name: name, bytes: [UInt8](data))
            }
        }
    }

    @Test("inputs that once failed do not fail again", arguments: Crash.all)
    func crash(_ crash: Crash) throws {
        try crash.target.run(crash.bytes.span)
    }

    @Test("every crash is in the directory of a target")
    func crashes() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Crash.directory.path)
        #expect(folders.allSatisfy { FuzzTarget(rawValue: $0) != nil })
        #expect(!Crash.all.isEmpty)
    }

    @Test("the targets accept real packets of other stacks, even if truncated", arguments: FuzzTarget.allCases)
    func seeds(_ target: FuzzTarget) throws {
        var inputs: Set<[UInt8]> = []
        for capture in Capture.all {
            let packets = capture.packets.map { SeedPacket(isFromController: $0.isFromController, bytes: $0.bytes) }
            inputs.formUnion(target.seeds(from: packets, file: capture.file))
        }
        #expect(!inputs.isEmpty)
        for input in inputs {
            try target.run(input.span)
            try target.run(input.span.extracting(0..<input.count / 2))
            try target.run(input.span.extracting(0..<max(0, input.count - 1)))
        }
    }
}
