import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// The longest frame allowed, then fragments, each with its boundary flag. A simple model gives the expected result.
func fuzzReassembly(_ input: inout FuzzInput) throws(FuzzViolation) {
    var model = ReassemblyModel(limit: 4 + Int(input.byte()) * 4)
    var reassembler = ACLReassembler(maximumFrameLength: model.limit)
    while !input.isEmpty {
        let boundary = ACLDataPacket.Boundary(rawValue: input.byte() & 0b11) ?? .complete
        let data = input.chunk()
        let (expected, frame) = model.receive(Array(data), boundary)
        let outcome = reassembler.receive(ACLDataPacket(connectionHandle: 0x40, boundary: boundary, data: data))
        try require(outcome == expected, "\(outcome) instead of \(expected)")
        try require(reassembler.buffer.count <= model.limit, "\(reassembler.buffer.count) octets are kept")
        guard let frame else { continue }
        let whole = outcome == .frame ? Array(data) : Array(reassembler.buffer)
        try require(whole == frame, "another frame")
        do {
            _ = try L2CAPFrame(decoding: whole.span)
        } catch {
            throw FuzzViolation(description: "a frame that is none: \(error)")
        }
    }
}

private struct ReassemblyModel {
    var limit: Int
    var partial: [UInt8]?

    mutating func receive(
        _ data: [UInt8], _ boundary: ACLDataPacket.Boundary
    ) -> (ACLReassembler.Outcome, frame: [UInt8]?) {
        if boundary == .complete {
            partial = nil
            return (.dropped(.flagsInvalid), nil)
        }
        let isStart = boundary != .continuing
        if isStart { partial = data.isEmpty ? nil : [] }
        guard let start = partial else { return (.dropped(isStart ? .empty : .continuationWithoutStart), nil) }
        let bytes = start + data
        partial = bytes
        guard bytes.count >= 4 else { return (.incomplete, nil) }
        let length = 4 + Int(bytes[0]) + Int(bytes[1]) << 8
        if length <= limit, bytes.count < length { return (.incomplete, nil) }
        partial = nil
        if length > limit { return (.dropped(.frameTooLong), nil) }
        if bytes.count > length { return (.dropped(.overlong), nil) }
        return (isStart ? .frame : .reassembled, bytes)
    }
}
