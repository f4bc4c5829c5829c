import BluetoothBase
import BluetoothHCI

/// Finds where packets begin on a line that has no beginning, as the specification has it for a UART: whoever is out of
/// step looks for Reset among the bytes, or for the answer to it (Core 5.4, Vol 4, Part A, 4).
///
/// A serial line does not tell when the other side was opened, closed or switched on. A host that opens it may hear the
/// end of a packet, or a whole one, that was meant for the host before: so it takes nothing in until it has sent Reset
/// and sees that completed. A controller is in step until bytes come that are no packet; then it waits for Reset. A
/// host that loses its step later has to begin anew: only a reset brings the controller and it together again.
struct ResetSynchronizer: Sendable {
    private enum State {
        /// Nothing was sent yet: whatever comes is not meant for this host.
        case idle
        /// Looking for Reset, or for its completion.
        case searching
        case inStep
    }

    let receiver: H4Framer.Receiver
    private var state: State
    private var sendsZeros: Bool
    /// The end of what came that may be the beginning of the packet searched for, and that packet once it is there.
    private(set) var found: [UInt8] = []

    /// Completes any command and any synchronous data that a host has begun: a header of three bytes, and up to 255. No
    /// packet begins with a zero.
    private static let zeros = [UInt8](repeating: 0, count: 3 + 255)

    /// - Parameter sendsZeros: whether zeros go before the first Reset, to complete a packet that was left unfinished.
    init(receiver: H4Framer.Receiver, sendsZeros: Bool = false) {
        self.receiver = receiver
        self.sendsZeros = sendsZeros
        state =
            switch receiver {
            case .host: .idle
            case .controller: .inStep
            }
    }

    /// Whether what comes next is a packet, or the rest of one.
    var isInStep: Bool {
        switch state {
        case .inStep: true
        case .idle, .searching: false
        }
    }

    /// Takes note of a packet to be sent, and returns what is to be sent before it.
    mutating func prepare(_ packet: Span<UInt8>) -> [UInt8] {
        guard case .idle = state else { return [] }
        // Who asks something else first knows what the controller is doing.
        let isReset = packet.count == Self.reset.count && packet.indices.allSatisfy { packet[$0] == Self.reset[$0] }
        state = isReset ? .searching : .inStep
        defer { sendsZeros = false }
        return isReset && sendsZeros ? Self.zeros : []
    }

    /// Takes note that what came last was no packet. False where nothing that may come could help.
    mutating func loseStep() -> Bool {
        guard receiver == .controller else { return false }
        state = .searching
        found.removeAll(keepingCapacity: true)
        return true
    }

    /// Looks for the packet that is waited for, and returns where the next begins: `found` holds the one that ended
    /// there. Nil where all bytes were in vain.
    mutating func search(_ bytes: Span<UInt8>) -> Int? {
        guard case .searching = state else { return nil }
        for offset in bytes.indices {
            found.append(bytes[offset])
            while !isBeginning(found) { found.removeFirst() }
            if found.count == pattern.count {
                state = .inStep
                return offset + 1
            }
        }
        return nil
    }

    // MARK: - Matching

    /// The command, and the event that completes it, where nil stands for any byte: the number of commands the
    /// controller takes, and the status.
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
