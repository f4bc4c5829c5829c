import BluetoothBase
import BluetoothHCI

/// The receiving side, how the stream is split, then the stream.
func fuzzFramer(_ input: inout FuzzInput) throws(FuzzViolation) {
    let receiver: H4Framer.Receiver = input.choice(of: 2) == 0 ? .host : .controller
    let pattern = Int(input.byte())
    let stream = input.rest()

    var framer = H4Framer(receiver: receiver)
    let (expected, expectedFault) = frame(stream, framer: &framer, piece: stream.count)
    var other = H4Framer(receiver: receiver)
    let (packets, fault) = frame(stream, framer: &other, piece: 1 + pattern % 61)
    try require(packets == expected, "the pieces change the packets")
    try require(fault == expectedFault, "the pieces change the fault: \(String(describing: fault))")
    try require(packets.joined().elementsEqual(Array(stream).prefix(packets.joined().count)), "bytes got lost")

    if fault != nil {
        let (more, again) = frame([4, 0, 0].span, framer: &other, piece: 3)
        try require(more.isEmpty && again == fault, "the stream continued after a fault")
    }
    other.reset()
    let first: [UInt8] = [2, 0, 0, 0, 0]
    let (repeated, _) = frame(first.span, framer: &other, piece: 5)
    try require(repeated == [first], "a reset leaves something behind")
}

private func frame(_ stream: Span<UInt8>, framer: inout H4Framer, piece: Int) -> ([[UInt8]], H4Fault?) {
    var packets: [[UInt8]] = []
    var start = 0
    while start < stream.count {
        let end = min(start + max(1, piece), stream.count)
        do {
            try framer.receive(stream.extracting(start..<end)) { packets.append(Array($0)) }
        } catch {
            return (packets, error)
        }
        start = end
    }
    return (packets, nil)
}
