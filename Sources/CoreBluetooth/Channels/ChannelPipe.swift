import BluetoothATT
import BluetoothAdapter
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers
import DequeModule
import Dispatch
import Foundation
import Synchronization

/// What is under way on an L2CAP channel, between the adapter's thread and the streams of an application, on any thread.
final class ChannelPipe: @unchecked Sendable {
    // Unchecked: mutable state is behind `condition`.

    let id: CreditBasedChannel.ID
    let link: LinkIdentifier
    let information: ChannelInformation
    private let attachment: Attachment
    private let condition = NSCondition()
    /// SDUs that were received, and how much of the first has been read.
    private var received = Deque<[UInt8]>()
    private var readOfFirst = 0
    /// The SDUs that may be sent, and the threads that wait to send one.
    private let credits = CreditLine(count: SharedHost.channelCredit)
    /// Whether no more will come, or go.
    private var isOver = false
    /// Told when there may be something to read, or room to write. They do not keep the streams.
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
        let (reader, hasRoom) = locked {
            // The peer's credits keep it shorter.
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

    /// The channel is closed, by whichever side, or its link is gone.
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

    /// Whether there is something to read, and whether more may come.
    var reading: (isReady: Bool, isAtEnd: Bool) { locked { (!received.isEmpty, isOver && received.isEmpty) } }
    /// Whether something may be written, and whether nothing ever can be again.
    var writing: (isReady: Bool, isAtEnd: Bool) { locked { (credits.isAvailable && !isOver, isOver) } }

    /// Reads what is there, at most `count` octets. Waits where there is nothing; 0 at the end.
    func read(into buffer: UnsafeMutablePointer<UInt8>, atMost count: Int) -> Int {
        var taken: Int?
        condition.lock()
        while received.isEmpty, !isOver { condition.wait() }
        var length = 0
        if let first = received.first, count > 0 {
            length = min(count, first.count - readOfFirst)
            first.withUnsafeBufferPointer { octets in
                guard let start = octets.baseAddress else { return }
                buffer.update(from: start + readOfFirst, count: length)
            }
            readOfFirst += length
            if readOfFirst == first.count {
                taken = first.count
                received.removeFirst()
                readOfFirst = 0
            }
        }
        condition.unlock()
        // The peer may send as much again.
        if let taken { attachment.post(.channel(link, .consume(id, taken))) }
        return length
    }

    /// Writes as much as one SDU takes, at most `count` octets. Waits where there is no room; -1 at the end.
    func write(_ octets: UnsafePointer<UInt8>, count: Int) -> Int {
        guard count > 0 else { return writing.isAtEnd ? -1 : 0 }
        guard takeCredit() else { return -1 }
        let length = min(count, Int(information.peerMTU), Self.longestSDU)
        attachment.post(
            .channel(link, .send(id, Array(UnsafeBufferPointer(start: octets, count: length)))))
        return length
    }

    private static let longestSDU = 8192

    /// Waits for a credit. False where there will be none.
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

        /// False where there will be no credit.
        func wait() -> Bool {
            semaphore.wait()
            return !hasFailed.load(ordering: .acquiring)
        }
    }

    /// With both streams the channel is closed.
    func streamClosed(isInput: Bool) {
        let isUnused = locked {
            if isInput { closed.input = true } else { closed.output = true }
            return closed.input && closed.output
        }
        if isUnused { close() }
    }

    /// Closes the channel, once everything written has left.
    func close() {
        let isOpen = locked { !isOver }
        end()
        if isOpen { attachment.post(.channel(link, .close(id, isAbrupt: false))) }
    }
}
