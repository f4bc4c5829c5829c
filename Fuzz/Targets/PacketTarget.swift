import BluetoothBase
import BluetoothHCI

/// A whole packet, H4 indicator first. If it decodes, it encodes to something that decodes to the same.
func fuzzPacket(_ bytes: Span<UInt8>) throws(FuzzViolation) {
    guard let packet = try? HCIPacket(decoding: bytes) else { return }
    switch packet {
    case .command(let command): try fuzzCommand(command, bytes)
    case .event(let event): try fuzzEvent(event)
    case .aclData(let data):
        var writer = ByteWriter()
        data.encodePacket(into: &writer)
        try require(writer.bytes == Array(bytes), "ACL data changes")
    case .synchronousData, .isoData: return
    }
}

private func fuzzCommand(_ packet: borrowing HCICommandPacket, _ bytes: Span<UInt8>) throws(FuzzViolation) {
    var writer = ByteWriter()
    packet.encodePacket(into: &writer)
    try require(writer.bytes == Array(bytes), "a command packet changes")
    guard let command = try? packet.decodeKnown() else { return }
    let encoded = encode(command)
    // A reserved bit may get lost; a byte may not.
    try require(encoded.count == bytes.count, "\(command) changes its length")
    guard let again = try? HCICommandPacket(decoding: encoded.span.extracting(1..<encoded.count)).decodeKnown() else {
        throw FuzzViolation(description: "\(command) is not decoded again")
    }
    try require(encode(again) == encoded, "\(command) changes")
}

private func encode<Command: HCICommand>(_ command: Command) -> [UInt8] {
    var writer = ByteWriter()
    command.encodePacket(into: &writer)
    return writer.bytes
}

private func fuzzEvent(_ event: consuming HCIEvent) throws(FuzzViolation) {
    let encoded = encode(event)
    try require(encoded.count <= 258, "an event of \(encoded.count) octets")
    do {
        let again = try HCIEvent(decoding: encoded.span.extracting(1..<encoded.count))
        try require(encode(again) == encoded, "an event changes")
    } catch let error as FuzzViolation {
        throw error
    } catch {
        throw FuzzViolation(description: "an event is not decoded again: \(error)")
    }
    try readParts(event)
}

private func encode(_ event: borrowing HCIEvent) -> [UInt8] {
    var writer = ByteWriter()
    event.encodePacket(into: &writer)
    return writer.bytes
}

/// Reads the lists of an event. Every list ends, and none has more elements than it claims.
private func readParts(_ event: consuming HCIEvent) throws(FuzzViolation) {
    var elements = 0
    switch event {
    case .leAdvertisingReports(var reports):
        let claimed = reports.count
        while let report = reports.next() {
            elements += 1
            try require(report.data.count <= 255, "a report of \(report.data.count) octets")
        }
        try require(reports.count == 0 && (elements == claimed || reports.isMalformed), "reports got lost")
    case .leExtendedAdvertisingReports(var reports):
        let claimed = reports.count
        while let report = reports.next() {
            elements += 1
            try require(report.data.count <= 255, "a report of \(report.data.count) octets")
        }
        try require(reports.count == 0 && (elements == claimed || reports.isMalformed), "reports got lost")
    case .leDirectedAdvertisingReports(var reports):
        while reports.next() != nil { elements += 1 }
    case .numberOfCompletedPackets(var completed):
        let claimed = completed.count
        while completed.next() != nil { elements += 1 }
        try require(elements == claimed || completed.isTruncated, "counts got lost")
    case .commandComplete(let complete):
        try fuzzReturnParameters(complete)
    default: return
    }
    try require(elements <= 255, "\(elements) elements in one event")
}

private func fuzzReturnParameters(_ complete: borrowing CommandComplete) throws(FuzzViolation) {
    guard let returned = try? complete.decodeKnownReturnParameters() else { return }
    let parameters = encode(returned)
    let event = CommandComplete(opcode: complete.opcode, returnParameters: parameters.span)
    guard let again = try? event.decodeKnownReturnParameters() else {
        throw FuzzViolation(description: "\(returned) is not decoded again")
    }
    try require(encode(again) == parameters, "\(returned) changes")
}

/// Return parameters with a status of success in front.
private func encode(_ returned: any HCIReturnParameters) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt8(0))
    returned.encode(into: &writer)
    return writer.bytes
}
