import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("GATT client: misbehaving peers")
struct ClientBadPeerTests {
    /// An operation, a response that answers its first request, and what is wrong with it.
    struct BadResponse: CustomTestStringConvertible, Sendable {
        var operation: GATTClientOperation
        var response: String
        var reason: GATTClientError.InvalidResponse

        init(_ operation: GATTClientOperation, _ response: String, _ reason: GATTClientError.InvalidResponse) {
            self.operation = operation
            self.response = response
            self.reason = reason
        }

        var testDescription: String { "\(operation): \(response)" }
    }

    static let range: ClosedRange<AttributeHandle> = 0x0010...0x0020

    static let responses: [BadResponse] = [
        // Primary services
        .init(.discoverPrimaryServices(), "11", .malformed(.init(.truncated(missing: 1), at: 1))),
        .init(.discoverPrimaryServices(), "11 06", .malformed(.init(.truncated(missing: 6), at: 2))),
        .init(.discoverPrimaryServices(), "11 00 01 00", .malformed(.init(.invalidLength, at: 1))),
        .init(.discoverPrimaryServices(), "11 06 01 00 05 00 00 18 06", .malformed(.init(.invalidLength, at: 8))),
        .init(.discoverPrimaryServices(), "11 05 01 00 05 00 00", .invalidValueLength(1)),
        .init(.discoverPrimaryServices(), "11 08 01 00 05 00 00 18 00 00", .invalidValueLength(4)),
        .init(.discoverPrimaryServices(), "11 06 00 00 05 00 00 18", .unexpectedHandle(0)),
        .init(.discoverPrimaryServices(), "11 06 05 00 04 00 00 18", .invalidRange(start: 5, end: 4)),
        .init(
            .discoverPrimaryServices(), "11 06 05 00 06 00 00 18 06 00 07 00 01 18", .unexpectedHandle(6)),
        .init(
            .discoverPrimaryServices(), "11 06 05 00 FF FF 00 18 06 00 07 00 01 18", .unexpectedHandle(6)),
        .init(.discoverPrimaryServices(uuid: "180F"), "07", .malformed(.init(.truncated(missing: 4), at: 1))),
        .init(
            .discoverPrimaryServices(uuid: "180F"), "07 01 00 02 00 03", .malformed(.init(.invalidLength, at: 5))),
        .init(.discoverPrimaryServices(uuid: "180F"), "07 02 00 01 00", .invalidRange(start: 2, end: 1)),
        // Included services
        .init(.discoverIncludedServices(in: range), "09 01 11", .malformed(.init(.invalidLength, at: 1))),
        .init(.discoverIncludedServices(in: range), "09 07 11 00 30 00 3F 00 0F", .invalidValueLength(5)),
        .init(.discoverIncludedServices(in: range), "09 08 0F 00 30 00 3F 00 0F 18", .unexpectedHandle(0x0F)),
        .init(.discoverIncludedServices(in: range), "09 08 21 00 30 00 3F 00 0F 18", .unexpectedHandle(0x21)),
        .init(
            .discoverIncludedServices(in: range), "09 08 11 00 30 00 2F 00 0F 18",
            .invalidRange(start: 0x30, end: 0x2F)),
        .init(
            .discoverIncludedServices(in: range), "09 08 11 00 00 00 2F 00 0F 18", .invalidRange(start: 0, end: 0x2F)),
        // Characteristics
        .init(.discoverCharacteristics(in: range), "09 06 11 00 02 12 00 00", .invalidValueLength(4)),
        .init(.discoverCharacteristics(in: range), "09 02 11 00", .invalidValueLength(0)),
        .init(.discoverCharacteristics(in: range), "09 07 0F 00 02 12 00 00 2A", .unexpectedHandle(0x0F)),
        .init(.discoverCharacteristics(in: range), "09 07 11 00 02 11 00 00 2A", .unexpectedHandle(0x11)),
        .init(.discoverCharacteristics(in: range), "09 07 20 00 02 21 00 00 2A", .unexpectedHandle(0x21)),
        .init(
            .discoverCharacteristics(in: range), "09 07 13 00 02 14 00 00 2A 11 00 02 12 00 00 2A",
            .unexpectedHandle(0x11)),
        .init(
            .discoverCharacteristics(in: range), "09 07 11 00 02 13 00 00 2A 13 00 02 14 00 00 2A",
            .unexpectedHandle(0x13)),
        // Descriptors
        .init(.discoverDescriptors(in: range), "05 01", .malformed(.init(.truncated(missing: 4), at: 2))),
        .init(.discoverDescriptors(in: range), "05 03 10 00 02 29", .malformed(.init(.invalidValue, at: 1))),
        .init(.discoverDescriptors(in: range), "05 01 10 00 02 29 11", .malformed(.init(.invalidLength, at: 6))),
        .init(.discoverDescriptors(in: range), "05 01 11 00 02 29 11 00 01 29", .unexpectedHandle(0x11)),
        .init(.discoverDescriptors(in: range), "05 01 0F 00 02 29", .unexpectedHandle(0x0F)),
        // Others
        .init(.readByUUID("2A19", in: range), "09 03 21 00 64", .unexpectedHandle(0x21)),
        .init(.readByUUID("2A19", in: range), "09 03 12 00 64 12 00 64", .unexpectedHandle(0x12)),
        .init(.write(0x0003, [1]), "13 00", .malformed(.init(.trailingBytes(count: 1), at: 1))),
        .init(.exchangeMTU(clientRxMTU: 517), "03 17", .malformed(.init(.truncated(missing: 1), at: 2))),
    ]

    @Test("A8: an invalid response fails the operation with an error that states the reason", arguments: responses)
    func badResponse(bad: BadResponse) throws {
        var harness = ClientHarness()
        let id = try harness.start(bad.operation).id
        #expect(harness.receive(bytes(bad.response)) == [])
        #expect(harness.takeEvents() == [.failed(id, .invalidResponse(bad.reason))])
        // The client goes on with the next operation.
        #expect(try harness.start(.read(0x0001)).sent == bytes("0A 01 00"))
    }

    @Test("A8: handles must keep increasing from one response to the next")
    func backwards() throws {
        var harness = ClientHarness()
        let id = try harness.start(.discoverPrimaryServices()).id
        #expect(harness.receive(bytes("11 06 05 00 06 00 00 18")) == bytes("10 07 00 FF FF 00 28"))
        #expect(harness.receive(bytes("11 06 05 00 06 00 00 18")) == [])
        #expect(harness.takeEvents() == [.failed(id, .invalidResponse(.unexpectedHandle(5)))])
    }

    @Test("an included service's declaration must hold a UUID")
    func includedUUID() throws {
        let result = try run(
            .discoverIncludedServices(in: Self.range),
            [("08 10 00 20 00 02 28", "09 06 12 00 40 00 4F 00"), ("0A 40 00", "0B 01 02 03 04")])
        #expect(result == .failure(.invalidResponse(.invalidValueLength(4))))
    }

    @Test("an included service that cannot be read fails the discovery, even with Attribute Not Found")
    func includedNotFound() throws {
        let result = try run(
            .discoverIncludedServices(in: Self.range),
            [("08 10 00 20 00 02 28", "09 06 12 00 40 00 4F 00"), ("0A 40 00", "01 0A 40 00 0A")])
        #expect(result == .failure(.att(ATTError(.attributeNotFound, for: .readRequest, at: 0x40))))
    }

    @Test("a malformed echo cancels the prepared writes, and the operation fails")
    func malformedEcho() throws {
        let result = try run(.writeLong(0x0003, [1]), [("16 03 00 00 00 01", "17 03"), ("18 00", "19")])
        #expect(result == .failure(.invalidResponse(.malformed(.init(.truncated(missing: 1), at: 2)))))
    }

    @Test(
        "A7: a PDU that does not answer the request in flight is ignored",
        arguments: [
            "", "0D 01", "13", "01 0C 03 00 01", "01 0A 03 00", "01 0A", "01", "1E", "1B 03 00 01", "0A 03 00", "BF",
            "FF",
        ])
    func ignored(pdu: String) throws {
        var harness = ClientHarness()
        let id = try harness.start(.read(0x0003)).id
        #expect(harness.receive(bytes(pdu)) == [])
        #expect(harness.client.events.isEmpty)
        #expect(harness.receive(bytes("0B 01")) == [])
        #expect(harness.takeEvents() == [.completed(id, .value([1]))])
    }

    @Test(
        "A7: an unsolicited response is ignored", arguments: ["0B 01", "01 0A 03 00 0A", "11 06 01 00 05 00 00 18"])
    func unsolicited(pdu: String) {
        var harness = ClientHarness()
        #expect(harness.receive(bytes(pdu)) == [])
        #expect(harness.client.events.isEmpty)
    }

    @Test("an error response may name any handle")
    func errorAtOtherHandle() throws {
        let result = try run(.read(0x0003), [("0A 03 00", "01 0A 00 00 02")])
        #expect(result == .failure(.att(ATTError(.readNotPermitted, for: .readRequest, at: 0))))
    }
}
