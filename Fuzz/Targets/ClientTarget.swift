import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// The ATT_MTU, then what happens to a client: the application starts or cancels an operation, the server sends a PDU,
/// time passes. At the end the link is lost.
func fuzzClient(_ input: inout FuzzInput) throws(FuzzViolation) {
    var bench = ClientBench(mtu: 23 + Int(input.word()) % 600)
    while !input.isEmpty {
        switch input.choice(of: 16) {
        case 0...3:
            try bench.start(GATTClientOperation.forFuzzing[input.choice(of: GATTClientOperation.forFuzzing.count)])
        case 4: try bench.cancel(input.choice(of: 4))
        case 5: try bench.pass(.seconds(Int64(input.byte())))
        case 6...12: try bench.respond(input.chunk())
        default: try bench.receive(input.chunk())
        }
    }
    try bench.disconnect()
}

private struct ClientBench {
    var client = GATTClient(maximumWaiting: 8)
    var bearer = ATTBearer()
    var now = Instant.zero
    /// The operations in progress, oldest first.
    var started: [GATTClient.OperationID] = []

    init(mtu: Int) {
        if mtu > 23 { bearer.exchangeMTU(clientRxMTU: UInt16(mtu), serverRxMTU: UInt16(mtu)) }
    }

    mutating func start(_ operation: GATTClientOperation) throws(FuzzViolation) {
        var writer = ByteWriter()
        let isBusy = bearer.requestInFlight != nil
        do throws(GATTClientError) {
            started.append(try client.start(operation, bearer: &bearer, at: now, into: &writer))
        } catch {
            try require(error == .tooManyOperations || bearer.isDead, "\(operation) was refused: \(error)")
        }
        try require(writer.bytes.isEmpty || !isBusy, "a request before the response to the last one")
        try check(writer)
    }

    mutating func cancel(_ index: Int) throws(FuzzViolation) {
        guard index < started.count else { return }
        try require(client.cancel(started[index]), "an operation cannot be cancelled")
        try check(ByteWriter())
    }

    mutating func pass(_ time: Duration) throws(FuzzViolation) {
        now = now.advanced(by: time)
        if client.fire(bearer: &bearer, at: now) != nil {
            try require(bearer.isDead && client.pendingCount == 0, "operations on a dead bearer")
        }
        try require(bearer.nextDeadline.map { $0 > now } ?? true, "a deadline that has passed")
        try check(ByteWriter())
    }

    /// The right opcode, followed by anything.
    mutating func respond(_ parameters: Span<UInt8>) throws(FuzzViolation) {
        guard let response = bearer.requestInFlight?.response else { return try receive(parameters) }
        var pdu = ByteWriter()
        pdu.append(response.rawValue)
        pdu.append(parameters)
        try receive(pdu.bytes.span)
    }

    mutating func receive(_ pdu: Span<UInt8>) throws(FuzzViolation) {
        var writer = ByteWriter()
        client.receive(pdu, bearer: &bearer, at: now, into: &writer)
        try check(writer)
    }

    mutating func disconnect() throws(FuzzViolation) {
        client.failAll(.disconnected)
        try check(ByteWriter())
        try require(started.isEmpty && client.pendingCount == 0, "\(started.count) operations never ended")
    }

    private mutating func check(_ writer: ByteWriter) throws(FuzzViolation) {
        try require(writer.count <= bearer.mtu, "a request of \(writer.count) octets where \(bearer.mtu) fit")
        if let opcode = writer.bytes.first {
            try require(bearer.requestInFlight?.rawValue == opcode, "a request without an operation")
            guard (try? ATTMessage(decoding: writer.bytes.span)) != nil else {
                throw FuzzViolation(description: "a request without its proper shape: \(writer.bytes)")
            }
        }
        for event in client.events {
            guard let index = started.firstIndex(of: event.identifier) else {
                throw FuzzViolation(description: "an operation ended twice")
            }
            started.remove(at: index)
            if case .completed(_, let result) = event { try check(result) }
        }
        client.events.removeAll(keepingCapacity: true)
        try require(client.pendingCount == started.count, "\(client.pendingCount) operations of \(started.count)")
    }

    /// What callers rely on: handles in order, and ends that are not before starts.
    private func check(_ result: GATTClientResult) throws(FuzzViolation) {
        let handles: [AttributeHandle]
        switch result {
        case .services(let found): handles = found.flatMap { [$0.startHandle, $0.endHandle] }
        case .includes(let found): handles = found.map(\.declarationHandle)
        case .characteristics(let found):
            handles = found.map(\.declarationHandle)
            for one in found {
                try require(
                    one.declarationHandle < one.valueHandle && one.valueHandle <= one.endHandle, "\(one)")
            }
        case .descriptors(let found): handles = found.map(\.handle)
        case .database(let found):
            try check(.services(found.services))
            try check(.includes(found.includes))
            try check(.characteristics(found.characteristics))
            return try check(.descriptors(found.descriptors))
        case .value(let value): return try require(value.count <= 0x1_0000, "a value of \(value.count) octets")
        case .mtu(let mtu): return try require(mtu >= 23 && mtu == bearer.mtu, "an MTU of \(mtu)")
        case .values, .written: return
        @unknown default: throw FuzzViolation(description: "a result this target cannot check: \(result)")
        }
        try require(zip(handles, handles.dropFirst()).allSatisfy { $0 <= $1 }, "handles out of order in \(result)")
    }
}

extension GATTClientEvent {
    var identifier: GATTClient.OperationID {
        switch self {
        case .completed(let identifier, _), .failed(let identifier, _): identifier
        }
    }
}

extension GATTClientOperation {
    static let forFuzzing: [GATTClientOperation] = [
        .discoverAll(includes: true), .discoverAll(includes: false), .discoverPrimaryServices(),
        .discoverPrimaryServices(uuid: .init(0x180F)), .discoverIncludedServices(in: 0x0001...0xFFFF),
        .discoverCharacteristics(in: 0x0001...0xFFFF),
        .discoverCharacteristics(in: 0x0010...0x0020, uuid: .init(0x2A19)),
        .discoverDescriptors(in: 0x0001...0xFFFF), .discoverDescriptors(in: 0xFFFF...0xFFFF), .read(0x0003),
        .readLong(0x0003), .readLong(0x0003, offset: 0xFFFF), .readByUUID(.init(0x2A00)), .readMultiple([1, 2]),
        .readMultipleVariable([1, 2, 3]), .write(0x0003, [1, 2, 3]),
        .writeLong(0x0003, (0..<100).map { UInt8($0) }), .write(0x0003, (0..<600).map { UInt8($0 & 0xFF) }),
        .writeReliably([AttributeValue(handle: 3, value: [1, 2]), AttributeValue(handle: 4, value: [3])]),
        .configure(descriptor: 0x0004, .notifications), .exchangeMTU(clientRxMTU: 517),
    ]
}
