import BluetoothATT
import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import BluetoothCommandLine

/// Serves a document to the peer at the other end of a bare bearer. Sends values that are given on standard input or in
/// the document's schedule.
struct BareServer: BearerUser, Sendable {
    /// The maximum number of indications that wait for an earlier one to be confirmed.
    static let maximumWaiting = 1024

    var outgoing: [[UInt8]] = []
    var lines: [String] = []
    var complaints: [String] = []
    private(set) var isDead = false
    private(set) var endpoint = AttributeEndpoint()
    private(set) var server = GATTServer()
    private var schedule: NotificationSchedule
    private var indications: [(handle: AttributeHandle, value: [UInt8])] = []

    /// - Throws: an error if the database cannot have this layout.
    init(_ layout: DeviceDocument.Layout) throws(GATTDatabaseError) {
        _ = try server.database.add(layout.definitions)
        schedule = NotificationSchedule(layout.notifications)
    }

    var isFinished: Bool { false }
    var nextDeadline: Instant? { earliest(endpoint.nextDeadline, schedule.nextDeadline) }

    mutating func begin(at now: Instant) {
        schedule.connected(at: now)
        lines.append("connected")
        sendDue(at: now)
    }

    mutating func receive(_ packet: [UInt8], at now: Instant) {
        if let line = ServeLine.reading(packet) { lines.append(line) }
        var writer = ByteWriter()
        let outcome = endpoint.receive(packet.span, on: .first, server: &server, at: now, into: &writer)
        if !writer.isEmpty { outgoing.append(writer.bytes) }
        finish(outcome, packet, at: now)
        sendDue(at: now)
    }

    mutating func fire(at now: Instant) {
        while let channel = endpoint.dueChannel(at: now), !isDead {
            var writer = ByteWriter()
            let outcome = endpoint.fire(channel, server: server, at: now, into: &writer)
            if !writer.isEmpty { outgoing.append(writer.bytes) }
            finish(outcome, [], at: now)
        }
        sendDue(at: now)
    }

    private mutating func finish(_ outcome: AttributeOutcome, _ packet: [UInt8], at now: Instant) {
        switch outcome {
        case .channelDied: isDead = true
        case .server(.valueWritten(let handle, let value)):
            lines.append(ServeLine.written(Array(packet[value]), to: handle))
        case .server(.subscriptionChanged(let change)): changed(change, at: now)
        case .server(.preparedWritesExecuted(let changes)):
            for change in changes {
                switch change {
                case .value(let handle):
                    lines.append(ServeLine.written(server.database.value(of: handle) ?? [], to: handle))
                case .subscription(let change): changed(change, at: now)
                case .clientSupportedFeatures: break
                }
            }
        case .server(.confirmationReceived): sendIndication(at: now)
        default: break
        }
    }

    private mutating func changed(_ change: GATTSubscriptionChange, at now: Instant) {
        lines.append(ServeLine.subscribed(to: change.characteristic, change.new))
        if change.new.isEmpty {
            schedule.unsubscribed(from: change.characteristic)
        } else {
            schedule.subscribed(to: change.characteristic, at: now)
        }
    }

    // MARK: - Sending

    mutating func enter(_ line: String, at now: Instant) {
        do throws(SendLine.Failure) {
            guard let command = try SendLine(line) else { return }
            if let problem = send(command.value, of: command.handle, isIndication: command.isIndication, at: now) {
                complaints.append("\(quoted(line)): \(problem)")
            }
        } catch {
            complaints.append("\(quoted(line)): \(error)")
        }
    }

    private mutating func sendDue(at now: Instant) {
        while let item = schedule.take(at: now) {
            let configuration = endpoint.servedClient.configuration(of: item.handle)
            let isIndication = item.isIndication ?? (configuration == .indications)
            // A scheduled value that the peer has not subscribed to is skipped, which is not an error.
            _ = send(item.octets, of: item.handle, isIndication: isIndication, at: now)
        }
    }

    /// Sends a value. Returns the reason if it cannot be sent.
    private mutating func send(
        _ value: [UInt8], of handle: AttributeHandle, isIndication: Bool, at now: Instant
    ) -> String? {
        if isIndication, endpoint.channelForIndication == nil || !indications.isEmpty {
            guard indications.count < Self.maximumWaiting else { return "too many indications await confirmation" }
            indications.append((handle, value))
            return nil
        }
        var writer = ByteWriter()
        do throws(GATTServerError) {
            if isIndication {
                try endpoint.indicate(handle, value: value.span, from: server, at: now, into: &writer)
            } else {
                try endpoint.notify(handle, value: value.span, from: server, into: &writer)
            }
        } catch {
            return ServeLine.reason(of: error)
        }
        outgoing.append(writer.bytes)
        return nil
    }

    private mutating func sendIndication(at now: Instant) {
        while !indications.isEmpty, endpoint.channelForIndication != nil {
            let (handle, value) = indications.removeFirst()
            var writer = ByteWriter()
            do throws(GATTServerError) {
                try endpoint.indicate(handle, value: value.span, from: server, at: now, into: &writer)
                outgoing.append(writer.bytes)
            } catch {
                complaints.append("indicate \(handle): \(ServeLine.reason(of: error))")
            }
        }
    }
}
