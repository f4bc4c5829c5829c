import BluetoothATT
import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import Testing

@testable import ble

/// A device that is surveyed, recorded and served again, packet by packet in virtual time.
@Suite("ble record and ble replay")
struct ReplayTests {
    /// A client that surveys, subscribes to everything and notes what comes, as `ble record` does.
    struct Recorder {
        private var survey = DatabaseSurvey()
        private var notes = NotificationRecorder()
        private var endpoint = AttributeEndpoint()
        private var own = GATTServer()
        private(set) var server: BareServer
        private var results: [Result<GATTClientResult, ATTError>] = []
        /// What the server sent, with the times.
        private(set) var packets: [[UInt8]] = []
        private var now = Instant.zero

        init(_ server: BareServer) {
            self.server = server
            self.server.begin(at: .zero)
        }

        private mutating func exchange() {
            while !server.outgoing.isEmpty {
                let packet = server.outgoing.removeFirst()
                packets.append(packet)
                var writer = ByteWriter()
                let outcome = endpoint.receive(packet.span, on: .first, server: &own, at: now, into: &writer)
                switch outcome {
                case .notification(let handle, let value), .indication(let handle, let value):
                    notes.received(Array(packet[value]), of: handle, at: now)
                default: break
                }
                if !writer.isEmpty { server.receive(writer.bytes, at: now) }
                for event in endpoint.events {
                    switch event {
                    case .completed(_, let result): results.append(.success(result))
                    case .failed(_, .att(let error)): results.append(.failure(error))
                    case .failed(_, let error): Issue.record("\(error)")
                    }
                }
                endpoint.events = []
            }
        }

        private mutating func perform(_ operation: GATTClientOperation) throws -> Result<GATTClientResult, ATTError> {
            var writer = ByteWriter()
            _ = try endpoint.start(operation, at: now, into: &writer)
            if !writer.isEmpty { server.receive(writer.bytes, at: now) }
            exchange()
            let result = results.popLast()
            return try #require(result)
        }

        /// Lets time pass, in which the server sends what is due.
        private mutating func advance(to end: Instant) {
            while let deadline = server.nextDeadline, deadline <= end {
                now = max(now, deadline)
                server.fire(at: now)
                exchange()
            }
            now = end
        }

        mutating func record(for time: Duration) throws -> DeviceDocument {
            while let operation = survey.operation { survey.take(try perform(operation)) }
            var refusals: [AttributeHandle: ATTErrorCode] = [:]
            for item in survey.subscribable {
                advance(to: now.advanced(by: .milliseconds(7)))
                switch try perform(.configure(descriptor: item.descriptor, item.configuration)) {
                case .success: notes.subscribed(to: item.value, at: now)
                case .failure(let error): refusals[item.descriptor] = error.code
                }
            }
            advance(to: now.advanced(by: time))
            var document = survey.document
            document.notifications = notes.notifications
            document.refuseWrites(refusals)
            return document
        }
    }

    static let device = """
        {
          "services": [
            {
              "uuid": "1800", "handle": 1,
              "characteristics": [
                {"uuid": "2A00", "properties": ["read"], "text": "Sensor \\u001b[31m"},
                {"uuid": "2A01", "properties": ["read"], "value": "40 03"}
              ]
            },
            {
              "uuid": "1809", "handle": "0x0010", "endHandle": "0x0030",
              "includes": [{"service": "0x0040", "handle": "0x0012"}, "00112233-4455-6677-8899-AABBCCDDEEFF"],
              "characteristics": [
                {
                  "uuid": "2A1C", "handle": "0x0020", "valueHandle": "0x0022", "properties": ["indicate", "read"],
                  "permissions": {"readError": "insufficientAuthentication"},
                  "descriptors": [{"uuid": "2901", "text": "T"}, {"uuid": "2902", "handle": "0x0028"}]
                },
                {
                  "uuid": "2A1E", "properties": ["notify"], "addsDescriptors": false,
                  "descriptors": [{"uuid": "2902", "permissions": {"writeError": "insufficientEncryption"}}]
                }
              ]
            },
            {"uuid": "180F", "type": "secondary", "handle": "0x0040", "characteristics": [
              {"uuid": "2A19", "properties": ["read", "notify"], "value": "64"}
            ]},
            {"uuid": "00112233-4455-6677-8899-AABBCCDDEEFF", "type": "secondary", "handle": "0x0050"},
            {
              "uuid": "FEED", "type": "secondary", "handle": "0xFF00", "endHandle": "0xFFFF",
              "characteristics": [
                {"uuid": "FEEE", "properties": ["read", "write"], "value": "\(String(repeating: "A5", count: 300))"},
                {"uuid": "FEEF", "properties": ["read"], "permissions": {"readError": "0x90"}}
              ]
            }
          ],
          "notifications": [
            {"at": 0, "uuid": "2A19", "value": "63"},
            {"at": 12.5, "uuid": "2A1C", "value": "00 6C 01 00 FF"},
            {"at": 1000, "uuid": "2A19", "value": "62"},
            {"at": 1003, "uuid": "2A19", "value": "61"},
            {"at": 60000, "uuid": "2A1C", "value": "00 6D 01 00 FF"}
          ]
        }
        """

    @Test("a recording matches the device, and its replay is the same for a client, packet for packet")
    func twice() throws {
        let original = try DeviceDocument(json: Array(Self.device.utf8))
        var first = Recorder(try BareServer(original.layout()))
        let recorded = try first.record(for: .seconds(120))
        let file = try DeviceDocument(json: Array(recorded.json.utf8))
        #expect(file == recorded)
        var second = Recorder(try BareServer(file.layout()))
        let again = try second.record(for: .seconds(120))
        #expect(again == recorded)
        #expect(second.packets == first.packets)
        #expect(first.packets.count > 20)

        // Against what the device is, not only against itself.
        let (one, other) = (try original.layout(), try file.layout())
        #expect(one.handles.map(\.range) == other.handles.map(\.range))
        let attributes = { (layout: DeviceDocument.Layout) in
            layout.handles.flatMap(\.characteristics).map { [$0.declaration, $0.value, $0.clientConfiguration ?? 0] }
        }
        #expect(attributes(one) == attributes(other))
        #expect(recorded.services[1].characteristics[0].permissions.readError == .insufficientAuthentication)
        #expect(
            recorded.services[1].characteristics[1].descriptors[0].permissions.writeError == .insufficientEncryption)
        #expect(recorded.services[4].characteristics[0].value.octets == Array(repeating: 0xA5, count: 300))
        #expect(recorded.services[4].isPrimary == false)
        let times = other.notifications.map { "\($0.handle) \($0.time.nanoseconds / 1000)" }
        #expect(times == ["0x0042 0", "0x0022 12500", "0x0042 1000000", "0x0042 1003000", "0x0022 60000000"])
    }

    @Test("a device that answers only with errors has an empty document")
    func errors() {
        var survey = DatabaseSurvey()
        var count = 0
        while let operation = survey.operation {
            count += 1
            survey.take(.failure(ATTError(requestOpcode: 0, handle: 0, code: .requestNotSupported)))
            #expect(count < 10, "\(operation)")
        }
        #expect(survey.document == DeviceDocument())
    }
}
