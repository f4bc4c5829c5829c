import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import VirtualRadio

/// Hosts on virtual controllers that share one air, in virtual time.
struct World {
    /// An event with its bytes taken along.
    struct Seen {
        var event: HostEvent
        var bytes: [UInt8] = []
    }

    var air: Air
    var hosts: [Host] = []
    var controllers: [ControllerID] = []
    /// The events of each host that no test has looked at yet.
    var seen: [[Seen]] = []
    var now = Instant.zero
    /// Everything that host and controller have said to each other, and every host to its caller, where that is
    /// recorded.
    var transcript: [String]?

    init(seed: UInt64 = 1) {
        air = Air(seed: seed)
    }

    /// Adds a host on a controller of its own, not started yet, and returns its index.
    mutating func add(
        _ configure: (inout ControllerConfiguration) -> Void = { _ in },
        host configureHost: (inout HostConfiguration) -> Void = { _ in }
    ) -> Int {
        let number = UInt64(hosts.count + 1)
        var controller = ControllerConfiguration(
            publicAddress: DeviceAddress(0xA0_00_00_00_00_00 + number, kind: .public))
        configure(&controller)
        var configuration = HostConfiguration(seed: number)
        configureHost(&configuration)
        controllers.append(air.addController(controller))
        hosts.append(Host(configuration: configuration))
        seen.append([])
        return hosts.count - 1
    }

    /// Adds a host and brings it up.
    mutating func start(
        _ configure: (inout ControllerConfiguration) -> Void = { _ in },
        host configureHost: (inout HostConfiguration) -> Void = { _ in }
    ) -> Int {
        let index = add(configure, host: configureHost)
        hosts[index].start(at: now)
        run(for: .milliseconds(100))
        return index
    }

    /// Carries packets between hosts and controllers until none is left, without letting time pass.
    mutating func settle() {
        var isBusy = true
        while isBusy {
            isBusy = false
            for index in hosts.indices {
                while let packet = hosts[index].outbox.popFirst() {
                    isBusy = true
                    record("\(index) > ", packet)
                    air.receive(packet.span, from: controllers[index], at: now)
                }
                while let packet = air[controllers[index]].outbox.popFirst() {
                    isBusy = true
                    record("\(index) < ", packet)
                    hosts[index].receive(packet.span, at: now)
                }
                drain(index)
            }
        }
    }

    private mutating func drain(_ index: Int) {
        while let event = hosts[index].events.next() {
            let bytes = event.payload.map { hosts[index].events.copy($0) }
            record("\(index) ! \(event.brief) ", bytes ?? [])
            seen[index].append(Seen(event: event, bytes: bytes ?? []))
        }
    }

    private mutating func record(_ what: @autoclosure () -> String, _ bytes: [UInt8]) {
        guard transcript != nil else { return }
        transcript?.append("\(now.nanoseconds) \(what())\(bytes)")
    }

    /// The next instant at which something happens by itself.
    var nextDeadline: Instant? {
        mutating get {
            hosts.indices.reduce(air.nextDeadline) { earliest($0, hosts[$1].nextDeadline) }
        }
    }

    /// Lets the next thing happen, at the latest at `limit`. False where nothing is left to happen until then.
    mutating func step(until limit: Instant) -> Bool {
        settle()
        guard let deadline = nextDeadline, deadline <= limit else { return false }
        now = max(now, deadline)
        air.fire(at: now)
        for index in hosts.indices { hosts[index].fire(at: now) }
        settle()
        return true
    }

    /// Lets time pass.
    mutating func run(for duration: Duration) {
        let limit = now.advanced(by: duration)
        while step(until: limit) {}
        now = limit
    }

    /// Lets time pass until host `index` has reported an event that `match` picks something from; nil after `limit`.
    /// Events before it are forgotten.
    mutating func next<Value>(_ index: Int, within limit: Duration = .seconds(10), _ match: (Seen) -> Value?) -> Value?
    {
        let deadline = now.advanced(by: limit)
        settle()
        while true {
            while !seen[index].isEmpty {
                if let value = match(seen[index].removeFirst()) { return value }
            }
            guard step(until: deadline) else { return nil }
        }
    }
}

extension World {
    static let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    static let characteristic: BluetoothUUID = "9D534E8B-2153-4F6D-B2B0-8C68665A7274"

    /// A central and a peripheral with a link between them: their indices and their ends of the link.
    struct Pair {
        var central: Int
        var peripheral: Int
        var centralLink: LinkIdentifier
        var peripheralLink: LinkIdentifier
    }

    /// Lets `central` connect to `peripheral`, which advertises. Nil where that fails.
    mutating func connect(_ central: Int, to peripheral: Int) -> Pair? {
        guard let peer = hosts[peripheral].controller?.address else { return nil }
        try? hosts[peripheral].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: now)
        guard (try? hosts[central].connect(to: PeerID(peer), timeout: .seconds(10), at: now)) != nil else { return nil }
        guard let centralLink = next(central, { $0.event.connectedLink }),
            let peripheralLink = next(peripheral, { $0.event.connectedLink })
        else { return nil }
        return Pair(
            central: central, peripheral: peripheral, centralLink: centralLink, peripheralLink: peripheralLink)
    }
}

extension HostEventQueue {
    func copy(_ payload: Payload) -> [UInt8] {
        let bytes = bytes(of: payload)
        return Array(bytes)
    }
}

extension HostEvent {
    var payload: Payload? {
        switch self {
        case .client(_, .notification(_, let payload)), .client(_, .indication(_, let payload)),
            .server(_, .valueWritten(_, let payload)), .channel(_, .received(_, let payload)),
            .server(_, .writeRequested(_, _, let payload)):
            payload
        case .advertisement(let advertisement): advertisement.data
        default: nil
        }
    }

    var connectedLink: LinkIdentifier? {
        if case .link(let link, .connected) = self { link } else { nil }
    }

    var disconnection: (LinkIdentifier, HCIStatusText)? {
        if case .link(let link, .disconnected(let status)) = self { (link, "\(status)") } else { nil }
    }

    var completed: GATTClientResult? {
        if case .client(_, .operationEnded(.completed(_, let result))) = self { result } else { nil }
    }

    var isReady: Bool {
        if case .controller(.ready) = self { true } else { false }
    }
}

typealias HCIStatusText = String
