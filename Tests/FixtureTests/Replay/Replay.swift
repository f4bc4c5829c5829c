import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import Testing

/// A host with a recorded controller, in virtual time.
struct Replay {
    /// An event with a copy of its bytes.
    struct Seen {
        var event: HostEvent
        var bytes: [UInt8] = []
    }

    var host: Host
    var controller: RecordedController
    var now = Instant.zero
    /// The host's events that have not been examined yet.
    var seen: [Seen] = []
    /// The host's side of the only link.
    var link: LinkIdentifier?

    /// The devices of the recordings (Fixtures/README.md).
    static let peripheral = DeviceAddress(0xC0DE_0000_000F, kind: .random)
    static let central = DeviceAddress(0xC0DE_0000_000C, kind: .random)

    /// A host that is up.
    ///
    /// - Parameters:
    ///   - mtu: The ATT_MTU the host requests; at 23 it requests none.
    ///   - ownAddress: The address of the recorded host; if nil, that of the captures of two hosts.
    ///   - name: The name of the recorded device.
    init(_ capture: Capture, mtu: UInt16, ownAddress: HostConfiguration.OwnAddress? = nil, name: String? = nil) throws {
        var configuration = HostConfiguration(seed: 1)
        configuration.ownAddress = ownAddress ?? .staticRandom(capture.isCentral ? Self.central : Self.peripheral)
        configuration.preferredMTU = mtu
        if let name { configuration.deviceName = name }
        host = Host(configuration: configuration)
        controller = try RecordedController(capture)
        host.start(at: now)
        try settle()
        try #require(host.controller != nil, "the host does not come up")
    }

    /// Carries packets until neither side has any more.
    mutating func settle() throws {
        while let packet = host.outbox.popFirst() {
            try deliver(try controller.receive(packet))
        }
        drain()
    }

    mutating func deliver(_ packets: [[UInt8]]) throws {
        for packet in packets { host.receive(packet.span, at: now) }
        drain()
    }

    private mutating func drain() {
        while let event = host.events.next() {
            var bytes: [UInt8] = []
            switch event {
            case .client(_, .notification(_, let payload)), .client(_, .indication(_, let payload)),
                .server(_, .valueWritten(_, let payload)),
                .server(_, .writeRequested(_, _, let payload)):
                let span = host.events.octets(of: payload)
                bytes = Array(span)
            case .link(let connected, .connected): link = connected
            case .link(_, .disconnected): link = nil
            default: break
            }
            seen.append(Seen(event: event, bytes: bytes))
        }
    }

    /// Lets time pass, as long as the host is waiting for something, until there is a link.
    mutating func waitForLink() throws {
        try settle()
        while link == nil, let deadline = host.nextDeadline, deadline < Instant.zero.advanced(by: .seconds(60)) {
            now = max(now, deadline)
            host.fire(at: now)
            try settle()
        }
        try #require(link != nil, "there is no link")
    }

    /// Removes the events that `match` accepts, and returns its results.
    mutating func take<Value>(_ match: (Seen) -> Value?) -> [Value] {
        var values: [Value] = []
        seen.removeAll { event in
            guard let value = match(event) else { return false }
            values.append(value)
            return true
        }
        return values
    }
}

// MARK: - As a central

extension Replay {
    mutating func connect(to peer: DeviceAddress = Self.peripheral) throws {
        _ = try host.connect(to: PeerID(peer), timeout: .seconds(30), at: now)
        try waitForLink()
    }

    /// Carries out an operation, and returns how it ended.
    mutating func run(_ operation: GATTClientOperation) throws -> Result<GATTClientResult, GATTClientError> {
        let identifier = try host.start(operation, on: try #require(link), at: now)
        try settle()
        let ends = take { seen -> Result<GATTClientResult, GATTClientError>? in
            switch seen.event {
            case .client(_, .operationEnded(.completed(identifier, let result))): .success(result)
            case .client(_, .operationEnded(.failed(identifier, let error))): .failure(error)
            default: nil
            }
        }
        #expect(ends.count == 1, "\(operation)")
        return try #require(ends.first, "\(operation) did not end")
    }

    /// Carries out an operation that the recorded peer refuses.
    mutating func refusal(of operation: GATTClientOperation) throws -> ATTErrorCode? {
        guard case .failure(.att(let error)) = try run(operation) else { return nil }
        return error.code
    }
}

// MARK: - As a peripheral

extension Replay {
    /// Sends what the recorded peripheral sent by itself.
    mutating func sendUnasked(_ pdu: [UInt8]) throws {
        let link = try #require(link)
        switch try ATTMessage(decoding: pdu.span) {
        case .handleValueNotification(let notification):
            let isSent = try host.notify(notification.handle, value: notification.value, on: link)
            #expect(isSent)
        case .handleValueIndication(let indication):
            let isSent = try host.indicate(indication.handle, value: indication.value, on: link, at: now)
            #expect(isSent)
        default: return
        }
    }
}
