import BluetoothATT
import BluetoothAdapter
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers
import Dispatch
import Foundation
import Synchronization

/// Carries the data of an L2CAP channel between the adapter's thread and an application's streams, on any thread.
final class ChannelPipe: Sendable {
    let id: CreditBasedChannel.ID
    let link: LinkIdentifier
    let information: ChannelInformation
    private let attachment: Attachment
    private let state: Guarded<State>
    /// The credits for sending SDUs, and the threads that wait for one.
    private let credits = CreditLine(count: SharedHost.channelCredit)

    private struct State {
        var received = UnreadOctets()
        /// The threads that wait for data.
        var readers: [DispatchSemaphore] = []
        /// What the application has read, until it is reported.
        var consumed: ConsumedOctets
        /// Whether the channel is closed.
        var isOver = false
        /// Notified when there may be data to read, or space to write. They retain this pipe, but not their streams.
        weak var input: StreamEvents?
        weak var output: StreamEvents?
        /// Which of the streams the application has closed.
        var closed = (input: false, output: false)

        mutating func wakeReaders() {
            guard !readers.isEmpty else { return }
            for reader in readers { reader.signal() }
            readers = []
        }
    }

    init(
        _ id: CreditBasedChannel.ID, _ link: LinkIdentifier, _ information: ChannelInformation, _ attachment: Attachment
    ) {
        self.id = id
        self.link = link
        self.information = information
        self.attachment = attachment
        state = Guarded(wrappedValue: State(consumed: ConsumedOctets(information)))
    }

    func attach(input: StreamEvents) { state.withLock { $0.input = input } }
    func attach(output: StreamEvents) { state.withLock { $0.output = output } }

    // MARK: - The adapter's side

    /// - Parameter share: the octets' share of the channel's window.
    func receive(_ octets: borrowing Span<UInt8>, share: Int) {
        let reader = state.withLock { state in
            state.received.append(octets, share: share)
            state.wakeReaders()
            return state.input
        }
        reader?.changed()
    }

    func give(_ count: Int) {
        credits.add(count)
        state.withLock { $0.output }?.changed()
    }

    /// The channel was closed by either side, or its link has ended.
    func end() {
        let (reader, writer) = state.withLock { state in
            state.isOver = true
            state.wakeReaders()
            return (state.input, state.output)
        }
        for writer in credits.close().waiters { writer.fail(.channelClosed(.byThisDevice)) }
        reader?.changed()
        writer?.changed()
    }

    // MARK: - The application's side

    /// Whether there is data to read, and whether the end of the stream has been reached.
    var reading: (isReady: Bool, isAtEnd: Bool) {
        state.withLock { (!$0.received.isEmpty, $0.isOver && $0.received.isEmpty) }
    }
    /// Whether a write can be sent without waiting, and whether the channel is closed.
    var writing: (isReady: Bool, isAtEnd: Bool) { (credits.isAvailable, credits.isClosed) }

    /// Reads up to `count` octets. Waits if no data is available. Returns 0 at the end of the stream.
    func read(into buffer: UnsafeMutablePointer<UInt8>, atMost count: Int) -> Int {
        guard count > 0 else { return 0 }
        while true {
            let (length, share, reader) = state.withLock { state -> (Int, Int?, DispatchSemaphore?) in
                guard state.received.isEmpty, !state.isOver else {
                    let (length, share) = state.received.read(into: buffer, atMost: count)
                    return (length, state.consumed.add(share: share), nil)
                }
                let reader = DispatchSemaphore(value: 0)
                state.readers.append(reader)
                return (0, nil, reader)
            }
            guard let reader else {
                report(share)
                return length
            }
            reader.wait()
        }
    }

    /// Reports what was read, so that the peer can send as much again.
    private func report(_ share: Int?) {
        if let share { attachment.post(.channel(link, .consume(id, share: share))) }
    }

    /// Writes one SDU of up to `count` octets, and returns its length. Waits if there is no credit. Returns -1 if the
    /// channel is closed.
    func write(_ octets: UnsafePointer<UInt8>, count: Int) -> Int {
        guard count > 0 else { return writing.isAtEnd ? -1 : 0 }
        guard takeCredit() else { return -1 }
        let length = min(count, Int(information.peerMTU), Self.longestSDU)
        attachment.post(
            .channel(link, .send(id, Array(UnsafeBufferPointer(start: octets, count: length)))))
        return length
    }

    private static let longestSDU = 8192

    /// Waits for a credit. False if the channel is closed.
    private func takeCredit() -> Bool {
        if credits.take() { return true }
        let writer = BlockedWriter()
        switch credits.wait(writer) {
        case .granted: return true
        case .closed: return false
        case .waits: return writer.wait()
        }
    }

    /// A thread that waits for a credit.
    private final class BlockedWriter: CreditWaiter {
        private let semaphore = DispatchSemaphore(value: 0)
        private let hasFailed = Atomic<Bool>(false)

        var target: AttributeHandle? { nil }

        func grant() -> Bool {
            semaphore.signal()
            return true
        }

        func fail(_ error: BluetoothError) {
            hasFailed.store(true, ordering: .releasing)
            semaphore.signal()
        }

        /// False if the channel was closed instead.
        func wait() -> Bool {
            semaphore.wait()
            return !hasFailed.load(ordering: .acquiring)
        }
    }

    /// Closes the channel once both streams are closed.
    func streamClosed(isInput: Bool) {
        let isUnused = state.withLock { state in
            if isInput { state.closed.input = true } else { state.closed.output = true }
            return state.closed.input && state.closed.output
        }
        if isUnused { close() }
    }

    /// Closes the channel after everything that was written has been sent.
    func close() {
        let isOpen = !state.withLock { $0.isOver }
        end()
        if isOpen { attachment.post(.channel(link, .close(id, isAbrupt: false))) }
    }
}
