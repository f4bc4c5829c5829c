import BluetoothBase
import BluetoothHCI
import BluetoothTrace

/// Packets, each with its direction, and notes of the monitor. Every one gets one line.
func fuzzTrace(_ input: inout FuzzInput) throws(FuzzViolation) {
    var tracer = PacketTracer()
    while !input.isEmpty {
        let line: String
        switch input.choice(of: 3) {
        case 0: line = tracer.line(for: input.chunk(), direction: .controllerToHost, at: .zero)
        case 1: line = tracer.line(for: input.chunk(), direction: .hostToController, at: .zero)
        default:
            // A few more than are supported.
            let opcode = BTSnoop.MonitorOpcode(rawValue: UInt16(input.choice(of: 24)))
            line = tracer.describe(note: input.chunk(), opcode: opcode).line(nil, at: .zero)
        }
        try require(line.utf8.count > "0.000000 > ".utf8.count, "an empty line")
        try require(line.utf8.count < 200 + 2000 * 16, "a line of \(line.utf8.count) octets")
        try require(!line.utf8.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }, "several lines")
    }
}
