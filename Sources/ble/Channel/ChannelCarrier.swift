import BluetoothCommandLine
import BluetoothLE
import Synchronization

/// Transfers octets between a channel and standard input and output.
struct ChannelCarrier: Sendable {
    let channel: L2CAPChannel
    let ending: Ending

    /// The condition under which this side closes the channel.
    enum Ending {
        /// At the end of standard input, unless it was empty: then this side is only the receiver.
        case withInput
        /// After the end of standard input, once nothing has been received for this long.
        case whenIdle(Duration)
        /// Never: the device closes the channel.
        case never
    }

    private enum End {
        /// The device has closed the channel.
        case received
        /// Standard input has ended. The channel may have to be closed with it.
        case sent(closes: Bool)
        case cancelled
    }

    private let display = TransferDisplay()

    init(channel: L2CAPChannel, ending: Ending) {
        self.channel = channel
        self.ending = ending
    }

    /// Transfers octets in both directions until either side closes the channel.
    func run() async throws {
        defer { display.end() }
        do {
            try await carry()
        } catch {
            throw Task.isCancelled ? BluetoothError.cancelled : error
        }
        // If the device has closed the channel, this reports whether everything was sent before.
        try await channel.close()
    }

    private func carry() async throws {
        let lastReceipt = ReceiptTime(), input = StandardInput()
        try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask { try await unlessCancelled { try await receive(lastReceipt) } }
            group.addTask { try await unlessCancelled { try await sendAll(input, lastReceipt) } }
            while let end = try await group.next() {
                switch end {
                // If there is more input, it cannot be sent any more. The task that sends it then fails.
                case .received: if !input.hasMore { group.cancelAll() }
                case .sent(closes: true): group.cancelAll()
                case .sent(closes: false), .cancelled: continue
                }
            }
        }
    }

    private func unlessCancelled(_ body: () async throws -> End) async throws -> End {
        do {
            return try await body()
        } catch let error as BluetoothError where error == .cancelled {
            return .cancelled
        }
    }

    private func receive(_ lastReceipt: ReceiptTime) async throws -> End {
        while let octets = try await channel.read() {
            lastReceipt.note()
            // Before the output: on a terminal, the octets replace the line that shows the progress.
            display.received(octets.count)
            try writeToStandardOutput(octets)
        }
        return .received
    }

    private func sendAll(_ input: StandardInput, _ lastReceipt: ReceiptTime) async throws -> End {
        let count = try await send(input)
        switch ending {
        case .never: return .sent(closes: false)
        case .withInput: return .sent(closes: count > 0)
        case .whenIdle(let limit):
            try await waitForIdleness(limit, lastReceipt)
            return .sent(closes: true)
        }
    }

    /// Sends standard input. Returns the number of octets.
    private func send(_ input: StandardInput) async throws -> Int {
        var count = 0
        while true {
            let octets = try await input.read()
            guard !octets.isEmpty else { return count }
            do throws(BluetoothError) {
                try await channel.write(octets)
            } catch {
                // A write is cancelled if the device has closed the channel before these octets were sent.
                throw error == .cancelled ? .channelClosed(.byPeer) : error
            }
            count += octets.count
            display.sent(octets.count)
        }
    }

    private func waitForIdleness(_ limit: Duration, _ lastReceipt: ReceiptTime) async throws {
        lastReceipt.note()
        let clock = ContinuousClock()
        while case let deadline = lastReceipt.value.advanced(by: limit), clock.now < deadline {
            do { try await clock.sleep(until: deadline) } catch { throw BluetoothError.cancelled }
        }
    }

    /// The time at which something was last received.
    private final class ReceiptTime: Sendable {
        private let instant = Mutex(ContinuousClock.now)

        var value: ContinuousClock.Instant { instant.withLock { $0 } }
        func note() { instant.withLock { $0 = .now } }
    }
}
