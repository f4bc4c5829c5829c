import BluetoothBase
import BluetoothHCI

/// Finds packet boundaries on a line that may be joined at any time. As the specification describes for a UART, a side
/// that is out of sync searches the bytes for Reset or for its completion (Core 5.4, Vol 4, Part A, 4).
///
/// A serial line does not report when the other side is opened, closed or switched on. A host that opens it may receive
/// the end of a packet, or a whole one, that was meant for the previous host. It therefore ignores everything until it
/// has sent Reset and received its completion. A controller is synchronized until it receives bytes that are not a
/// packet; then it waits for Reset. A host that loses sync later must start over, because only a reset synchronizes it
/// with the controller again.
struct ResetSynchronizer: Sendable {
    private enum State {
        /// This host has not sent anything yet, so received bytes are not meant for it.
        case idle
        /// Searching for Reset, or for its completion.
        case searching
        case synchronized
    }

    let receiver: H4Framer.Receiver
    private var state: State
    private var sendsZeros: Bool
    /// The last received bytes that match the beginning of the expected packet, or the whole packet once it has been
    /// found.
    private(set) var found: [UInt8] = []

    /// Completes any command or synchronous data packet that a host has begun: a 3-byte header and up to 255 bytes. No
    /// packet begins with a zero.
    private static let zeros = [UInt8](repeating: 0, count: 3 + 255)

    /// - Parameter sendsZeros: whether to send zeros before the first Reset, to complete a packet that was left
    ///   unfinished.
    init(receiver: H4Framer.Receiver, sendsZeros: Bool = false) {
        self.receiver = receiver
        self.sendsZeros = sendsZeros
        state =
            switch receiver {
            case .host: .idle
            case .controller: .synchronized
            }
    }

    /// Whether packet boundaries are known, so that the next byte begins or continues a packet.
    var isSynchronized: Bool {
        switch state {
        case .synchronized: true
        case .idle, .searching: false
        }
    }

    /// Records a packet to be sent, and returns the bytes to send before it.
    mutating func prepare(_ packet: Span<UInt8>) -> [UInt8] {
        guard case .idle = state else { return [] }
        // A host that first sends another command must know the controller's state.
        let isReset = packet.count == Self.reset.count && packet.indices.allSatisfy { packet[$0] == Self.reset[$0] }
        state = isReset ? .searching : .synchronized
        defer { sendsZeros = false }
        return isReset && sendsZeros ? Self.zeros : []
    }

    /// Records that the last bytes were not a packet. Returns false if synchronization is impossible.
    mutating func loseSync() -> Bool {
        guard receiver == .controller else { return false }
        state = .searching
        found.removeAll(keepingCapacity: true)
        return true
    }

    /// Searches for the expected packet and returns the offset after it. `found` then contains the packet. Returns nil
    /// if the bytes do not complete it.
    mutating func search(_ bytes: Span<UInt8>) -> Int? {
        guard case .searching = state else { return nil }
        for offset in bytes.indices {
            found.append(bytes[offset])
            while !isBeginning(found) { found.removeFirst() }
            if found.count == pattern.count {
                state = .synchronized
                return offset + 1
            }
        }
        return nil
    }

    // MARK: - Matching

    /// The command and the event that completes it. Nil matches any byte: Num_HCI_Command_Packets and the status.
    private static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    private static let command: [UInt8?] = [0x01, 0x03, 0x0C, 0x00]
    private static let completion: [UInt8?] = [0x04, 0x0E, 0x04, nil, 0x03, 0x0C, nil]

    private var pattern: [UInt8?] {
        switch receiver {
        case .host: Self.completion
        case .controller: Self.command
        }
    }

    private func isBeginning(_ bytes: [UInt8]) -> Bool {
        bytes.count <= pattern.count && zip(bytes, pattern).allSatisfy { $1 == nil || $0 == $1 }
    }
}
