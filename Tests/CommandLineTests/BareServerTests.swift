import BluetoothATT
import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import Testing

@testable import ble

@Suite("ble serve --bearer: exact bytes in virtual time")
struct BareServerTests {
    static let document = """
        {
          "services": [
            {
              "uuid": "180F", "handle": 1, "endHandle": 16,
              "characteristics": [
                {
                  "uuid": "2A19", "handle": 4, "properties": ["read", "write", "notify", "indicate"], "value": "64",
                  "descriptors": [{"uuid": "2902", "handle": 9}]
                },
                {"uuid": "2A1A", "properties": ["read"], "permissions": {"readError": "insufficientAuthentication"}}
              ]
            }
          ],
          "notifications": [
            {"at": 100, "handle": 5, "value": "01"}, {"at": 250, "uuid": "2A19", "value": "02", "indication": true}
          ]
        }
        """

    static func server() throws -> BareServer {
        try BareServer(try DeviceDocument(json: Array(document.utf8)).layout())
    }

    static func at(_ milliseconds: Int64) -> Instant { Instant.zero.advanced(by: .milliseconds(milliseconds)) }

    @Test("requests are answered from the document, and printed")
    func requests() throws {
        var server = try Self.server()
        server.begin(at: .zero)
        let table: [([UInt8], [UInt8])] = [
            ([0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28], [0x11, 0x06, 0x01, 0x00, 0x10, 0x00, 0x0F, 0x18]),
            (
                [0x04, 0x01, 0x00, 0xFF, 0xFF],
                [0x05, 0x01, 0x01, 0x00, 0x00, 0x28, 0x04, 0x00, 0x03, 0x28, 0x05, 0x00, 0x19, 0x2A]
                    + [0x09, 0x00, 0x02, 0x29, 0x0A, 0x00, 0x03, 0x28]
            ),
            ([0x0A, 0x05, 0x00], [0x0B, 0x64]),
            ([0x0C, 0x05, 0x00, 0x01, 0x00], [0x0D]),
            ([0x0A, 0x0B, 0x00], [0x01, 0x0A, 0x0B, 0x00, 0x05]),
            ([0x12, 0x05, 0x00, 0x1B, 0x5B], [0x13]),
            ([0x12, 0x09, 0x00, 0x01, 0x00], [0x13]),
            ([0x2A], [0x01, 0x2A, 0x00, 0x00, 0x06]),
        ]
        for (request, response) in table {
            server.receive(request, at: .zero)
            #expect(server.outgoing == [response])
            server.outgoing = []
        }
        #expect(
            server.lines == [
                "connected", "reads 0x0005", "reads 0x0005 from offset 1", "reads 0x000B", "writes 0x0005: 1B 5B",
                "subscribes to notifications of 0x0005",
            ])
    }

    @Test("notifications are sent at their times after each subscription")
    func schedule() throws {
        var server = try Self.server()
        server.begin(at: .zero)
        #expect(server.nextDeadline == nil)
        for start in [1000, 5000] as [Int64] {
            server.receive([0x12, 0x09, 0x00, 0x03, 0x00], at: Self.at(start))
            #expect(server.outgoing == [[0x13]])
            #expect(server.nextDeadline == Self.at(start + 100))
            server.fire(at: Self.at(start + 99))
            #expect(server.outgoing == [[0x13]])
            server.fire(at: Self.at(start + 100))
            #expect(server.outgoing == [[0x13], [0x1B, 0x05, 0x00, 0x01]])
            #expect(server.nextDeadline == Self.at(start + 250))
            server.fire(at: Self.at(start + 250))
            #expect(server.outgoing.last == [0x1D, 0x05, 0x00, 0x02])
            server.receive([0x1E], at: Self.at(start + 300))
            #expect(server.nextDeadline == nil)
            server.outgoing = []
            server.receive([0x12, 0x09, 0x00, 0x00, 0x00], at: Self.at(start + 400))
            server.outgoing = []
        }
    }

    @Test("lines of standard input are sent, and each invalid line gives one message")
    func lines() throws {
        var server = try Self.server()
        server.begin(at: .zero)
        server.enter("notify 0x0005 01", at: .zero)
        #expect(server.outgoing.isEmpty)
        #expect(server.complaints == ["\"notify 0x0005 01\": the peer has not subscribed to 0x0005"])
        server.complaints = []
        server.receive([0x12, 0x09, 0x00, 0x03, 0x00], at: .zero)
        server.outgoing = []
        for line in [
            "", "  # a comment", "notify 0x0005 01 02", "notify 5 0a0B\r", "notify 5", "indicate 0x5 FF",
            "indicate 5 FE",
        ] {
            server.enter(line, at: .zero)
        }
        let sent: [[UInt8]] = [
            [0x1B, 0x05, 0x00, 0x01, 0x02], [0x1B, 0x05, 0x00, 0x0A, 0x0B], [0x1B, 0x05, 0x00],
            [0x1D, 0x05, 0x00, 0xFF],
        ]
        #expect(server.outgoing == sent)
        #expect(server.complaints.isEmpty)
        // The second indication waits for the confirmation of the first.
        server.receive([0x1E], at: .zero)
        #expect(server.outgoing == sent + [[0x1D, 0x05, 0x00, 0xFE]])
        let wrong: [(String, String)] = [
            ("shout 5 01", "\"shout 5 01\": expected notify HANDLE HEX or indicate HANDLE HEX"),
            ("notify", "\"notify\": expected a handle such as 0x0012 after notify"),
            ("notify 0 01", "\"notify 0 01\": expected a handle such as 0x0012 after notify"),
            ("notify 0x10000 01", "\"notify 0x10000 01\": expected a handle such as 0x0012 after notify"),
            ("notify 5 0G", "\"notify 5 0G\": expected octets in hexadecimal after the handle"),
            ("notify 11 00", "\"notify 11 00\": the peer has not subscribed to 0x000B"),
            (
                "notify 5 " + String(repeating: "00", count: 21),
                "\"notify 5 \(String(repeating: "00", count: 21))\": "
                    + "the value is longer than the 20 octets that fit into one PDU"
            ),
            ("\u{1B}[2J\u{202E}", #""\u{1B}[2J\u{202E}": expected notify HANDLE HEX or indicate HANDLE HEX"#),
        ]
        for (line, message) in wrong {
            server.complaints = []
            server.enter(line, at: .zero)
            #expect(server.complaints == [message])
        }
    }

    @Test("an indication that is never confirmed ends the bearer")
    func unconfirmed() throws {
        var server = try Self.server()
        server.begin(at: .zero)
        server.receive([0x12, 0x09, 0x00, 0x02, 0x00], at: .zero)
        server.enter("indicate 5 01", at: .zero)
        server.fire(at: Self.at(29_999))
        #expect(!server.isDead)
        server.fire(at: Self.at(30_000))
        #expect(server.isDead)
    }

    @Test("names that are not fd:N are refused", arguments: ["fd:", "fd:x", "fd:-1", "3", "tcp:3"])
    func names(text: String) { #expect(BearerName(argument: text) == nil) }
}
