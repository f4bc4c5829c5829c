import BluetoothBase

/// The octets of a channel that were received and have not been read. The peer's credits limit their number.
struct UnreadOctets {
    private var octets = ByteQueue()
    /// Their share of the channel's window.
    private var share = 0

    var isEmpty: Bool { octets.isEmpty }

    mutating func append(_ more: Span<UInt8>, share: Int) {
        octets.append(more)
        self.share += share
    }

    /// Moves up to `limit` octets to a buffer. Returns their number and their share. The shares of all reads add up to
    /// those that were appended.
    mutating func read(into buffer: UnsafeMutablePointer<UInt8>, atMost limit: Int) -> (count: Int, share: Int) {
        let unread = octets.count, count = min(limit, unread)
        guard count > 0 else { return (0, 0) }
        octets.withBytes { octets in
            octets.withUnsafeBufferPointer { octets in
                if let start = octets.baseAddress { buffer.update(from: start, count: count) }
            }
        }
        octets.removeFirst(count)
        let part = count == unread ? share : share * count / unread
        share -= part
        return (count, part)
    }
}
