import BluetoothAdapter
import BluetoothHost
import BluetoothL2CAP
import DequeModule
import Foundation

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
    /// How many SDUs may be sent.
    private var credits = SharedHost.channelCredit
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
        let reader = locked {
            received.append(octets)
            condition.broadcast()
            return input
        }
        reader?.changed()
    }

    func give(_ count: Int) {
        let writer = locked {
            credits += count
            condition.broadcast()
            return output
        }
        writer?.changed()
    }

    /// The channel is closed, by whichever side, or its link is gone.
    func end() {
        let (reader, writer) = locked {
            isOver = true
            condition.broadcast()
            return (input, output)
        }
        reader?.changed()
        writer?.changed()
    }

    // MARK: - The application's side

    /// Whether there is something to read, and whether more may come.
    var reading: (isReady: Bool, isAtEnd: Bool) { locked { (!received.isEmpty, isOver && received.isEmpty) } }
    /// Whether something may be written, and whether nothing ever can be again.
    var writing: (isReady: Bool, isAtEnd: Bool) { locked { (credits > 0 && !isOver, isOver) } }

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
        condition.lock()
        while credits == 0, !isOver { condition.wait() }
        let isPossible = !isOver
        if isPossible, count > 0 { credits -= 1 }
        condition.unlock()
        guard isPossible else { return -1 }
        guard count > 0 else { return 0 }
        let length = min(count, Int(information.peerMTU), Self.longestSDU)
        attachment.post(
            .channel(link, .send(id, Array(UnsafeBufferPointer(start: octets, count: length)))))
        return length
    }

    private static let longestSDU = 8192

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
