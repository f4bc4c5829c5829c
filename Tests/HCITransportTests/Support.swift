import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI
import Synchronization
import Testing

@testable import HCITransport

/// HCI_Reset, as H4 carries it.
let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
/// Command Complete for it.
let resetComplete: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
/// Eight bytes of ACL data on connection 0x0040.
let aclData: [UInt8] = [0x02, 0x40, 0x20, 0x08, 0x00, 0x04, 0x00, 0x04, 0x00, 0x1B, 0x03, 0x00, 0xAA]

/// Receives until `count` packets have arrived, waiting for each as an application would.
func receive(_ count: Int, from transport: any HCITransport) throws -> [[UInt8]] {
    let loop = try EventLoop()
    try loop.add(transport.fileDescriptor, token: 0, for: .read)
    var packets: [[UInt8]] = []
    while packets.count < count {
        try #require(!loop.wait(until: hangGuard()).isEmpty, "nothing came")
        try transport.receive { packets.append(Array($0)) }
    }
    return packets
}

/// The error the next `receive` ends with, packets or no packets before it.
func failure(of transport: any HCITransport) throws -> TransportError.Reason? {
    let loop = try EventLoop()
    try loop.add(transport.fileDescriptor, token: 0, for: .read)
    while true {
        try #require(!loop.wait(until: hangGuard()).isEmpty, "nothing came")
        do throws(TransportError) {
            try transport.receive { _ in }
        } catch {
            return error.reason
        }
    }
}

/// Waits until no process has the other end of a pipe or socket open. Closing it is not enough: a program that another
/// test is starting has copies of all descriptors until it runs.
func waitForHangUp(of descriptor: Int32) throws {
    var polled = pollfd(fd: descriptor, events: 0, revents: 0)
    try #require(poll(&polled, 1, 300_000) == 1, "the other end stays open")
}

/// A deadline that is only reached if a test hangs.
func hangGuard() -> Instant { MonotonicClock.now.advanced(by: .seconds(30)) }

/// A public address.
func address(_ text: String) -> DeviceAddress {
    guard let address = DeviceAddress(text + "/P") else { fatalError("no address: \(text)") }
    return address
}

/// A directory of its own for a test's files, removed with everything in it.
final class Directory {
    let path: String

    init() {
        var template = Array("/tmp/hci-transport-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("no temporary directory") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                unlink("\(path)/\(name)")
            }
            closedir(directory)
        }
        rmdir(path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}

func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// The bytes of a file.
func contents(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk.prefix(count) }
    return bytes
}

/// A scripted socket: its calls return the given results in turn, then would block.
final class ScriptedSocket: Sendable {
    enum Answer: Sendable {
        case bytes([UInt8])
        case takes(Int)
        case takesAll
        case fails(Int32)
    }

    private struct State {
        var incoming: [Answer]
        var outgoing: [Answer]
        var written: [[UInt8]] = []
        var closed: [Int32] = []
    }

    private let state: Mutex<State>

    init(incoming: [Answer] = [], outgoing: [Answer] = []) {
        state = Mutex(State(incoming: incoming, outgoing: outgoing))
    }

    /// What each successful call wrote.
    var written: [[UInt8]] { state.withLock { $0.written } }
    /// The descriptors that were closed.
    var closed: [Int32] { state.withLock { $0.closed } }

    func allow(_ answers: [Answer]) { state.withLock { $0.outgoing += answers } }

    var calls: SocketCalls {
        SocketCalls(
            receive: { _, buffer in
                self.state.withLock { state in
                    guard !state.incoming.isEmpty else { return -Int(EAGAIN) }
                    switch state.incoming.removeFirst() {
                    case .bytes(let bytes):
                        buffer.copyBytes(from: bytes.prefix(buffer.count))
                        return bytes.count
                    case .fails(let code): return -Int(code)
                    case .takes, .takesAll: fatalError("not an answer to a read")
                    }
                }
            },
            send: { _, buffer in
                self.state.withLock { state in
                    guard !state.outgoing.isEmpty else { return -Int(EAGAIN) }
                    let count: Int
                    switch state.outgoing.removeFirst() {
                    case .takes(let limit): count = min(limit, buffer.count)
                    case .takesAll: count = buffer.count
                    case .fails(let code): return -Int(code)
                    case .bytes: fatalError("not an answer to a write")
                    }
                    state.written.append(Array(buffer.prefix(count)))
                    return count
                }
            },
            close: { descriptor in self.state.withLock { $0.closed.append(descriptor) } })
    }
}

/// The reason `body` throws, or nil.
func reason(_ body: () throws(TransportError) -> Void) -> TransportError.Reason? {
    do throws(TransportError) {
        try body()
        return nil
    } catch {
        return error.reason
    }
}

extension HCITransport {
    func send(_ packet: [UInt8]) throws(TransportError) { try send(packet.span) }
}

extension PacketQueue {
    mutating func append(_ packet: [UInt8]) { append(packet.span) }
}
