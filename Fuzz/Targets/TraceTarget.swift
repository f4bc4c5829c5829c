import BluetoothBase
import BluetoothTrace

/// Packets, each with its direction. Every one gets one line.
func fuzzTrace(_ input: inout FuzzInput) throws(FuzzViolation) {
    var tracer = PacketTracer()
    while !input.isEmpty {
        let direction: PacketTracer.Direction = input.choice(of: 2) == 0 ? .controllerToHost : .hostToController
        let packet = input.chunk()
        let line = tracer.line(for: packet, direction, at: .zero)
        try require(line.utf8.count > "0.000000 > ".utf8.count, "an empty line")
        try require(line.utf8.count < 200 + 2000 * 16, "a line of \(line.utf8.count) octets")
        try require(!line.utf8.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }, "several lines")
    }
}
