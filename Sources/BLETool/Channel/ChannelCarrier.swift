import BluetoothCommandLine
import BluetoothLE
import Synchronization

/// Carries octets between a channel and standard input and output.
struct ChannelCarrier: Sendable {
    let channel: L2CAPChannel
    let ending: Ending

    /// When the channel is closed from this side.
    enum Ending {
        /// At the end of standard input, where anything came there: who had nothing to send is there to receive.
        case withInput
        /// After the end of standard input, once nothing has come for this long.
        case whenIdle(Duration)
        /// The device closes it.
        case never
    }

    private enum End {
        /// The device has closed the channel.
        case received
        /// Standard input has ended, and with it the channel, or not.
        case sent(closes: Bool)
        case cancelled
    }

    private let display = TransferDisplay()

    init(channel: L2CAPChannel, ending: Ending) {
        self.channel = channel
        self.ending = ending
    }

    /// Carries octets both ways until the channel is closed, by whichever side.
    func run() async throws {
        defer { display.end() }
        do {
            try await carry()
        } catch {
            throw Task.isCancelled ? BluetoothError.cancelled : error
        }
        // Where the device has closed it, this says whether everything had left before.
        try await channel.close()
    }

    private func carry() async throws {
        let lastReceipt = ReceiptTime(), input = StandardInput()
        try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask { try await unlessCancelled { try await receive(lastReceipt) } }
            group.addTask { try await unlessCancelled { try await sendAll(input, lastReceipt) } }
            while let end = try await group.next() {
                switch end {
                // What waits on standard input cannot be sent any more, as it is told when it tries.
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
        } catch BluetoothError.cancelled {
            return .cancelled
        }
    }

    private func receive(_ lastReceipt: ReceiptTime) async throws -> End {
        while let octets = try await channel.read() {
            lastReceipt.note()
            // First: on a terminal the octets take the place of the line that shows the progress.
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

    /// Sends standard input; how many octets that were.
    private func send(_ input: StandardInput) async throws -> Int {
        var count = 0
        while true {
            let octets = try await input.read()
            guard !octets.isEmpty else { return count }
            do throws(BluetoothError) {
                try await channel.write(octets)
            } catch {
                // It is called off when the device has closed the channel, and these octets were to go there.
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

    /// When something was received last.
    private final class ReceiptTime: Sendable {
        private let instant = Mutex(ContinuousClock.now)

        var value: ContinuousClock.Instant { instant.withLock { $0 } }
        func note() { instant.withLock { $0 = .now } }
    }
}
