import BluetoothBase
import BluetoothHCI
import Foundation
import Testing

/// A capture under Fixtures: everything that went between a host and its controller.
struct Capture: Sendable {
    struct Packet: Sendable {
        var record: BTSnoop.Record
        /// The whole packet, H4 indicator first.
        var bytes: [UInt8]

        var isFromController: Bool { record.direction == .received }
    }

    /// Directory and name, without the extension: `Bumble/reads-central`.
    var name: String
    /// The file as it is, which may have more than these packets.
    var file: [UInt8]
    var packets: [Packet]

    /// Why the fixtures cannot be used.
    struct Unreadable: Error {
        var path: String
    }
}

extension Capture {
    static let directory = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    /// The files of one host and its controller. Empty where they cannot be read, which `CaptureTests` does not accept.
    static let files: [Capture] = (try? readAll()) ?? []

    /// Everything that went between one host and its controller: those files, and each adapter of those of the kernel's
    /// monitor, `Kernel/two-adapters-hci0`.
    static let all: [Capture] = files + MonitorCapture.all.flatMap(\.adapters)

    /// The captures of one scenario, of every stack that was recorded: `reads-central`.
    static func named(_ scenario: String) -> [Capture] {
        all.filter { $0.name.hasSuffix("/" + scenario) }
    }

    private static func readAll() throws -> [Capture] {
        var captures: [Capture] = []
        for stack in try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() {
            if stack == "Kernel" { continue }
            let folder = directory.appending(path: stack)
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            for file in files.sorted() where file.hasSuffix(".btsnoop") {
                let bytes = [UInt8](try Data(contentsOf: folder.appending(path: file)))
                captures.append(try Capture(name: "\(stack)/\(file.dropLast(".btsnoop".count))", file: bytes))
            }
        }
        return captures
    }

    private init(name: String, file: [UInt8]) throws {
        self.name = name
        self.file = file
        packets = []
        var reader = BTSnoopReader()
        reader.append(file.span)
        var packet = ByteWriter()
        while let record = try reader.next(into: &packet) {
            packets.append(Packet(record: record, bytes: packet.bytes))
        }
        guard reader.isAtRecordBoundary, reader.datalink == .h4 else { throw Unreadable(path: name) }
    }
}

extension Capture: CustomTestStringConvertible {
    var testDescription: String { name }
}

extension Capture.Packet {
    /// The packet without its indicator, where it is of this type.
    func content(of type: HCIPacketType) -> [UInt8]? {
        record.type == type ? Array(bytes.dropFirst()) : nil
    }
}
