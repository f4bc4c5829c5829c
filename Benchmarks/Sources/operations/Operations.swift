import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost

/// What can be measured. Each prepares itself, and then does the same thing `count` times.
enum Operation: String, CaseIterable {
    case notificationReceived20 = "notification-received-20"
    case notificationReceived244 = "notification-received-244"
    case notificationSent20 = "notification-sent-20"
    case notificationSent244 = "notification-sent-244"
    case readAnswered20 = "read-answered-20"
    case readAnswered100 = "read-answered-100"
    case readAnswered1000 = "read-answered-1000"
    case readAnswered10000 = "read-answered-10000"
    case writeCommandHandled = "write-command-handled"
    case advertisingReport = "advertising-report"
    case discovery

    func run(_ count: Int) -> Int {
        switch self {
        case .notificationReceived20: Self.receive(count, of: 20)
        case .notificationReceived244: Self.receive(count, of: 244)
        case .notificationSent20: Self.send(count, of: 20)
        case .notificationSent244: Self.send(count, of: 244)
        case .readAnswered20: Self.answer(count, among: 20)
        case .readAnswered100: Self.answer(count, among: 100)
        case .readAnswered1000: Self.answer(count, among: 1000)
        case .readAnswered10000: Self.answer(count, among: 10000)
        case .writeCommandHandled: Self.write(count)
        case .advertisingReport: Self.report(count)
        case .discovery: Self.discover(count)
        }
    }

    // MARK: - The central

    /// From the bytes of the ACL packet to the subscriber's closure.
    private static func receive(_ count: Int, of length: Int) -> Int {
        let laboratory = Laboratory()
        let handle = laboratory.value.rawValue
        let packet = acl([0x1B, UInt8(handle & 0xFF), UInt8(handle >> 8)] + Array(repeating: 7, count: length))
        var host = laboratory.hosts[Laboratory.central], sum = 0
        for _ in 0..<count {
            host.receive(packet.span, at: laboratory.now)
            drain(&host.events) { value in sum += value.count }
        }
        return sum
    }

    /// From the bytes of the event to the application, which looks for a service and the transmit power.
    private static func report(_ count: Int) -> Int {
        var host = Laboratory().hosts[Laboratory.central], sum = 0
        let now = Instant.zero
        try? host.startScanning(ScanParameters(), at: now)
        // Flags, transmit power, two 16-bit services, and manufacturer data that fills up the 31 octets.
        let data: [UInt8] =
            [2, 0x01, 6, 2, 0x0A, 4, 5, 0x03, 0x0D, 0x18, 0x0F, 0x18, 18, 0xFF, 0x4C, 0]
            + Array(repeating: 0xA5, count: 15)
        let packet: [UInt8] =
            [4, 0x3E, UInt8(12 + data.count), 2, 1, 0, 1, 1, 2, 3, 4, 5, 0xC6, UInt8(data.count)]
            + data + [0xC4]
        for _ in 0..<count {
            host.receive(packet.span, at: now)
            drain(&host.events) { advertisement in
                let view = ADView(advertisement)
                sum += view.contains(serviceUUID: "180F") ? Int(view.txPowerLevel ?? 0) : 0
            }
        }
        return sum
    }

    /// 100 services with two characteristics each, found with an MTU of 517: the client alone.
    private static func discover(_ count: Int) -> Int {
        DiscoveryScript().run(count)
    }

    // MARK: - The peripheral

    /// From the call to the bytes of the ACL packet.
    private static func send(_ count: Int, of length: Int) -> Int {
        let laboratory = Laboratory()
        var host = laboratory.hosts[Laboratory.peripheral], sum = 0
        let handle = laboratory.value, link = laboratory.link(Laboratory.peripheral)
        let value = [UInt8](repeating: 7, count: length)
        for _ in 0..<count {
            guard (try? host.notify(handle, value: value.span, on: link)) == true else { fatalError("refused") }
            sum += drain(&host.outbox)
            host.receive(completed.span, at: laboratory.now)
        }
        return sum
    }

    private static func answer(_ count: Int, among attributes: Int) -> Int {
        let laboratory = Laboratory(attributes: attributes)
        let handle = laboratory.value.rawValue
        let packet = acl([0x0A, UInt8(handle & 0xFF), UInt8(handle >> 8)])
        var host = laboratory.hosts[Laboratory.peripheral], sum = 0
        for _ in 0..<count {
            host.receive(packet.span, at: laboratory.now)
            sum += drain(&host.outbox)
            host.receive(completed.span, at: laboratory.now)
        }
        return sum
    }

    private static func write(_ count: Int) -> Int {
        let laboratory = Laboratory()
        let handle = laboratory.value.rawValue
        let packet = acl([0x52, UInt8(handle & 0xFF), UInt8(handle >> 8)] + Array(repeating: 7, count: 20))
        var host = laboratory.hosts[Laboratory.peripheral], sum = 0
        for _ in 0..<count {
            host.receive(packet.span, at: laboratory.now)
            drain(&host.events) { value in sum += value.count }
        }
        return sum
    }

    // MARK: - Packets

    /// An ATT PDU in an ACL packet from the controller, on the first connection handle there is.
    static func acl(_ pdu: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(0x02))
        writer.append(UInt16(0x2040))
        writer.append(UInt16(pdu.count + 4))
        writer.append(UInt16(pdu.count))
        writer.append(UInt16(0x0004))
        writer.append(pdu)
        return writer.bytes
    }

    /// Number Of Completed Packets: one, on that handle.
    static let completed: [UInt8] = [0x04, 0x13, 0x05, 0x01, 0x40, 0x00, 0x01, 0x00]
}

/// What `operations` looks like to a subscriber: a closure that is lent the bytes of each value.
@inline(never)
func drain(_ events: inout HostEventQueue, _ subscriber: (Span<UInt8>) -> Void) {
    while let event = events.next() {
        switch event {
        case .notification(_, _, let payload), .valueWritten(_, _, let payload): subscriber(events.bytes(of: payload))
        case .advertisement(let advertisement): subscriber(events.bytes(of: advertisement.data))
        default: continue
        }
    }
}

/// What a transport does: looks at the bytes of each packet and forgets it.
@inline(never)
func drain(_ outbox: inout PacketQueue) -> Int {
    var sum = 0
    while !outbox.isEmpty {
        sum += outbox.first.count
        outbox.removeFirst()
    }
    return sum
}
