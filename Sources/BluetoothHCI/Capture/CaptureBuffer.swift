import BluetoothBase

/// The octets of a capture that came in pieces of any size and have not been read yet.
struct CaptureBuffer: Sendable {
    private(set) var bytes: [UInt8] = []
    /// How many of the octets have been read.
    private(set) var offset = 0
    /// Where in the capture the first one is.
    private var position = 0

    mutating func append(_ piece: Span<UInt8>) {
        bytes.removeFirst(offset)
        position += offset
        offset = 0
        piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    var isEmpty: Bool { offset == bytes.count }

    /// What has not been read.
    var rest: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(offset..<bytes.count) }
    }

    /// Notes that so many octets have been read.
    mutating func advance(by count: Int) { offset += count }

    /// A failure at an offset in the rest, with its offset in the capture.
    func failure(_ failure: DecodingFailure) -> DecodingFailure {
        DecodingFailure(failure.reason, at: failure.offset + position + offset)
    }
}
