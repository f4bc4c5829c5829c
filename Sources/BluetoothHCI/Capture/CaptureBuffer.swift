import BluetoothBase

/// The unread octets of a capture that arrives in pieces of any size.
struct CaptureBuffer: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The number of octets that have been read.
    private(set) var offset = 0
    /// The position of the first octet in the capture.
    private var position = 0

    mutating func append(_ piece: Span<UInt8>) {
        bytes.removeFirst(offset)
        position += offset
        offset = 0
        piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    var isEmpty: Bool { offset == bytes.count }

    /// The unread octets.
    var rest: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(offset..<bytes.count) }
    }

    /// Marks `count` octets as read.
    mutating func advance(by count: Int) { offset += count }

    /// Converts the offset of a failure from one in `rest` to one in the capture.
    func failure(_ failure: DecodingFailure) -> DecodingFailure {
        DecodingFailure(failure.reason, at: failure.offset + position + offset)
    }
}
