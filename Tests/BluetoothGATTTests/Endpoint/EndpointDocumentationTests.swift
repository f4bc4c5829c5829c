import BluetoothATT
import BluetoothBase
import BluetoothGATT
import Foundation
import Testing

@Suite("Documentation/AttributeEndpoint.md")
struct EndpointDocumentationTests {
    @Test("the example serves and reads over a socket, without a controller")
    func example() throws {
        var sockets: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &sockets) == 0)
        defer { for socket in sockets { close(socket) } }
        var thermometer = try SocketPeer(sockets[0], celsius: 21)
        var reader = try SocketPeer(sockets[1], celsius: 0)
        try reader.start(.readByUUID("2A1F"))
        while reader.endpoint.events.isEmpty {
            let served = thermometer.turn()
            try #require(served)
            let answered = reader.turn()
            try #require(answered)
        }
        guard case .completed(_, .values(let values)) = reader.endpoint.events[0] else {
            Issue.record("\(reader.endpoint.events)")
            return
        }
        #expect(values.map(\.value) == [[21]])
        // The peer goes, and what was asked ends.
        try reader.start(.read(values[0].handle))
        shutdown(sockets[0], Int32(SHUT_RDWR))
        let isConnected = reader.turn()
        #expect(!isConnected)
        #expect(reader.endpoint.events.count == 2)
    }

    @Test("the document shows the tested code")
    func isShown() throws {
        let source = URL(filePath: #filePath)
        let root = (0..<4).reduce(source) { path, _ in path.deletingLastPathComponent() }
        let document = try String(
            contentsOf: root.appending(path: "Documentation/AttributeEndpoint.md"), encoding: .utf8)
        let tested = try String(
            contentsOf: source.deletingLastPathComponent().appending(path: "SocketPeer.swift"), encoding: .utf8
        )
        // A program of one's own names its C library, as the document does.
        .replacing("BluetoothPlatform", with: "Glibc")
        let blocks = document.components(separatedBy: "```swift\n").dropFirst()
        let shown = blocks.compactMap { $0.components(separatedBy: "```").first }
        #expect(shown == [tested])
        #expect(tested.split(separator: "\n").count <= 50)
    }
}
