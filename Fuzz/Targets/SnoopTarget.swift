import BluetoothBase
import BluetoothHCI

/// How the file is split, then the file.
func fuzzSnoop(_ input: inout FuzzInput) throws(FuzzViolation) {
    let piece = 1 + Int(input.byte())
    let file = input.rest()
    let (expected, expectedFailure) = read(file, piece: max(1, file.count))
    let (records, failure) = read(file, piece: piece)
    try require(records.elementsEqual(expected, by: ==), "the pieces change the records")
    try require(failure == expectedFailure, "the pieces change the failure")
    let octets = records.reduce(0) { $0 + $1.1.count }
    // An indicator is added to packets that have none.
    try require(octets <= file.count + records.count, "\(octets) octets in a file of \(file.count)")
}

private func read(_ file: Span<UInt8>, piece: Int) -> ([(BTSnoop.Record, [UInt8])], DecodingFailure?) {
    var reader = CaptureReader()
    var packet = ByteWriter()
    var records: [(BTSnoop.Record, [UInt8])] = []
    var start = 0
    while start < file.count {
        let end = min(start + piece, file.count)
        reader.append(file.extracting(start..<end))
        start = end
        do throws(DecodingFailure) {
            while let record = try reader.next(into: &packet) { records.append((record, packet.bytes)) }
        } catch {
            return (records, error)
        }
    }
    return (records, nil)
}
