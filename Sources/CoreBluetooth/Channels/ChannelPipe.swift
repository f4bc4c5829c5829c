import BluetoothATT
import BluetoothAdapter
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers
import DequeModule
import Dispatch
import Foundation
import Synchronization

/// Carries the data of an L2CAP channel between the adapter's thread and an application's streams, on any thread.
final class ChannelPipe: @unchecked Sendable {
    // Unchecked: mutable state is behind `condition`.

    let id: CreditBasedChannel.ID
    let link: LinkIdentifier
    let information: ChannelInformation
    private let attachment: Attachment
    private let condition = NSCondition()
    /// The received SDUs, and how many octets of the first have been read.
    private var received = Deque<[UInt8]>()
    private var readOfFirst = 0
    /// What the application has read, until it is reported.
    private var consumed: ConsumedSDUs
    /// The credits for sending SDUs, and the threads that wait for one.
    private let credits = CreditLine(count: SharedHost.channelCredit)
    /// Whether the channel is closed.
    private var isOver = false
    /// Notified when there may be data to read, or space to write. They do not retain the streams.
    private weak var input: StreamEvents?
    private weak var output: StreamEvents?
    /// Which of the streams the application has closed.
    private var closed = (input: false, output: false)

    init(
        _ id: CreditBasedChannel.ID, _ link: LinkIdentifier, _ information: ChannelInformation, _ attachment: Attachment
    ) {
        self.id = id
        self.link = link
        self.information = information
        self.attachment = attachment
        consumed = ConsumedSDUs(information)
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    func attach(input: StreamEvents) { locked { self.input = input } }
    func attach(output: StreamEvents) { locked { self.output = output } }

    // MARK: - The adapter's side

    func receive(_ octets: [UInt8]) {
        // A stream of bytes has no empty SDUs: to read nothing means its end.
        guard !octets.isEmpty else { return report(locked { consumed.add(0) }) }
        let (reader, hasRoom) = locked {
            // A peer that respects its credits cannot exceed this.
            let hasRoom = received.count < information.greatestWaitingCount
            if hasRoom { received.append(octets) }
            condition.broadcast()
            return (input, hasRoom)
        }
        if !hasRoom { attachment.post(.channel(link, .close(id, isAbrupt: true))) }
        reader?.changed()
    }

    func give(_ count: Int) {
        credits.add(count)
        locked { output }?.changed()
    }

    /// The channel was closed by either side, or its link has ended.
    func end() {
        let (reader, writer) = locked {
            isOver = true
            condition.broadcast()
            return (input, output)
        }
        for writer in credits.close().waiters { writer.fail(.channelClosed(.byThisDevice)) }
        reader?.changed()
        writer?.changed()
    }

    // MARK: - The application's side

    /// Whether there is data to read, and whether the end of the stream has been reached.
    var reading: (isReady: Bool, isAtEnd: Bool) { locked { (!received.isEmpty, isOver && received.isEmpty) } }
    /// Whether a write can be sent without waiting, and whether the channel is closed.
    var writing: (isReady: Bool, isAtEnd: Bool) { locked { (credits.isAvailable && !isOver, isOver) } }

    /// Reads up to `count` octets. Waits if no data is available. Returns 0 at the end of the stream.
    func read(into buffer: UnsafeMutablePointer<UInt8>, atMost count: Int) -> Int {
        guard count > 0 else { return 0 }
        var share: Int?
        condition.lock()
        while received.isEmpty, !isOver { condition.wait() }
        var length = 0
        if let first = received.first {
            length = min(count, first.count - readOfFirst)
            first.withUnsafeBufferPointer { octets in
                guard let start = octets.baseAddress else { return }
                buffer.update(from: start + readOfFirst, count: length)
            }
            readOfFirst += length
            if readOfFirst == first.count {
                share = consumed.add(first.count)
                received.removeFirst()
                readOfFirst = 0
            }
        }
        condition.unlock()
        report(share)
        return length
    }

    /// Reports what was read, so that the peer can send as much again.
    private func report(_ share: Int?) {
        if let share { attachment.post(.channel(link, .consumeShare(id, share))) }
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
        let isUnused = locked {
            if isInput { closed.input = true } else { closed.output = true }
            return closed.input && closed.output
        }
        if isUnused { close() }
    }

    /// Closes the channel after everything that was written has been sent.
    func close() {
        let isOpen = locked { !isOver }
        end()
        if isOpen { attachment.post(.channel(link, .close(id, isAbrupt: false))) }
    }
}
