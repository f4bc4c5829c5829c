import BluetoothBase
import BluetoothLE
import Foundation
import GatewayPipeline
import Logging
import Synchronization

/// Replays packets that were received earlier or elsewhere: lines of JSON with the members that the preset `raw`
/// publishes.
final class ReplaySource: Sendable {
    /// The members of a line that are used.
    private struct Line: Decodable {
        var address: String
        var type: String?
        var identity: String?
        var rssi: Int8?
        var connectable: Bool?
        var data: String
        var scanResponse: String?
        var adapter: String?
        var time: Int64?
    }

    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }()

    private let path: String
    private let hub: Hub
    private let clock: GatewayClock
    private let logger: Logger
    private let state = Mutex(AdapterSource.Status(name: "replay"))

    init(_ path: String, hub: Hub, clock: GatewayClock, logger: Logger) {
        self.path = path
        self.hub = hub
        self.clock = clock
        self.logger = logger
    }

    var status: AdapterSource.Status { state.withLock { $0 } }

    /// Passes on the packets until the file ends or the task is cancelled.
    func run() async {
        let isCancelled = Cancellation()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Reading blocks, which must not happen on a task's thread.
                Thread.detachNewThread { [self] in
                    state.withLock { $0.isScanning = true }
                    read(isCancelled)
                    state.withLock { $0.isScanning = false }
                    continuation.resume()
                }
            }
        } onCancel: {
            isCancelled.flag.withLock { $0 = true }
        }
    }

    private final class Cancellation: Sendable {
        let flag = Mutex(false)
        var isSet: Bool { flag.withLock { $0 } }
    }

    private func read(_ isCancelled: Cancellation) {
        let isLive = path == "-"
        let descriptor = isLive ? dup(0) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return logger.error("\(path) cannot be read") }
        defer { close(descriptor) }
        var lines = LineReader(descriptor)
        var first: (time: Int64, instant: Instant)?
        var number = 0
        while let line = lines.next(until: { isCancelled.isSet }) {
            number += 1
            guard let (reception, time) = Self.reception(line, at: clock.instant()) else {
                logger.warning("line \(number) is not a packet, and is skipped")
                continue
            }
            if !isLive, let time {
                let start = first ?? (time, clock.instant())
                first = start
                // Times may jump, but the replay must not wait for years.
                let target = Duration.milliseconds(max(0, min(time &- start.time, 86_400_000)))
                while !isCancelled.isSet {
                    let wait = target - start.instant.duration(to: clock.instant())
                    guard wait > .zero else { break }
                    usleep(UInt32(min(wait / .microseconds(1), 200_000)))
                }
            }
            guard !isCancelled.isSet else { return }
            state.withLock { $0.received += 1 }
            hub.receive(reception.heard(at: clock.instant()))
        }
    }

    /// Parses the packet in a line, and its time if there is one. Returns nil if the line is not a packet.
    static func reception(_ text: String, at instant: Instant) -> (Reception, Int64?)? {
        guard text.utf8.count < 10_000, let line = try? decoder.decode(Line.self, from: Data(text.utf8)),
            let data = [UInt8](hexadecimal: line.data),
            let response = [UInt8](hexadecimal: line.scanResponse ?? ""),
            let address = DeviceAddress(line.address + (line.type == "random" ? "/R" : "/P"))
        else { return nil }
        let identity = line.identity.flatMap { DeviceAddress($0) } ?? address
        let reception = Reception(
            adapter: line.adapter ?? "replay", address: address, identity: identity, rssi: line.rssi,
            isConnectable: line.connectable ?? false, advertisingData: data, scanResponseData: response,
            instant: instant)
        return (reception, line.time)
    }
}

extension Reception {
    /// A copy of the packet that was received at the given time.
    fileprivate func heard(at instant: Instant) -> Reception {
        var reception = self
        reception.instant = instant
        return reception
    }
}
