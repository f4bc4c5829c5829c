public import BluetoothBase
public import BluetoothHost
public import VirtualRadio

/// Pure hosts on virtual controllers that share one air, in virtual time: for tests and measurements of the core itself,
/// below adapters and applications, for which there is `World`.
///
///     var world = HostWorld()
///     let central = world.start(), peripheral = world.start()
///     guard let pair = world.connect(central, to: peripheral) else { … }
///
/// It is a value: a copy is another world, at the same instant.
public struct HostWorld: Sendable {
    /// An event, with its octets taken along.
    public struct Seen: Sendable {
        public var event: HostEvent
        public var bytes: [UInt8]

        public init(event: HostEvent, bytes: [UInt8] = []) {
            self.event = event
            self.bytes = bytes
        }
    }

    /// Two hosts, by their indices, and a link between them, as each of them calls it.
    public struct Pair: Sendable {
        public var central: Int
        public var peripheral: Int
        public var centralLink: LinkIdentifier
        public var peripheralLink: LinkIdentifier

        public init(
            central: Int, peripheral: Int, centralLink: LinkIdentifier, peripheralLink: LinkIdentifier
        ) {
            self.central = central
            self.peripheral = peripheral
            self.centralLink = centralLink
            self.peripheralLink = peripheralLink
        }
    }

    public var air: Air
    public var hosts: [Host] = []
    /// The controller of each host, on `air`. Giving a host another is plugging its dongle in elsewhere.
    public var controllers: [ControllerID] = []
    /// The present.
    public var now = Instant.zero
    /// The events of each host that nobody has looked at yet, oldest first.
    public var seen: [[Seen]] = []
    /// Is handed the events, with the index of their host, and they are not kept: for loads that would fill memory.
    public var observe: (@Sendable (Int, HostEvent) -> Void)?
    /// All that hosts and controllers have said to each other, a line each: `NANOSECONDS HOST > OCTETS` to the controller,
    /// `<` to the host, and `!` with the event for what a host has told. Nil, as at first, records nothing.
    public var transcript: [String]?

    /// - Parameter seed: what everything random on the air follows from.
    public init(seed: UInt64 = 1) {
        air = Air(seed: seed)
    }

    // MARK: - Hosts

    /// Adds a host on a controller of its own, not started yet, and returns its index.
    ///
    /// - Parameters:
    ///   - configure: changes the controller, whose public address is A0:00:00:00:00:01 for the first, and so on.
    ///   - configureHost: changes the host.
    public mutating func add(
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

    /// Adds a host as `add` does, and brings it up.
    public mutating func start(
        _ configure: (inout ControllerConfiguration) -> Void = { _ in },
        host configureHost: (inout HostConfiguration) -> Void = { _ in }
    ) -> Int {
        let index = add(configure, host: configureHost)
        hosts[index].start(at: now)
        run(for: .milliseconds(100))
        return index
    }

    /// Lets `central` connect to `peripheral`, which advertises. Nil where that fails.
    public mutating func connect(_ central: Int, to peripheral: Int) -> Pair? {
        guard let peer = hosts[peripheral].controller?.address else { return nil }
        try? hosts[peripheral].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: now)
        guard (try? hosts[central].connect(to: PeerID(peer), timeout: .seconds(10), at: now)) != nil else { return nil }
        guard let centralLink = next(central, { $0.event.connectedLink }),
            let peripheralLink = next(peripheral, { $0.event.connectedLink })
        else { return nil }
        return Pair(
            central: central, peripheral: peripheral, centralLink: centralLink, peripheralLink: peripheralLink)
    }

    // MARK: - Time

    /// Carries packets between hosts and controllers until none is left, without letting time pass.
    public mutating func settle() {
        var isBusy = true
        while isBusy {
            isBusy = false
            for index in hosts.indices {
                while !hosts[index].outbox.isEmpty {
                    isBusy = true
                    if transcript != nil { record("\(index) > ", Array(hosts[index].outbox.first)) }
                    Self.send(&hosts[index].outbox, to: &air, from: controllers[index], at: now)
                }
                while !air[controllers[index]].outbox.isEmpty {
                    isBusy = true
                    if transcript != nil { record("\(index) < ", Array(air[controllers[index]].outbox.first)) }
                    Self.receive(&air[controllers[index]].outbox, by: &hosts[index], at: now)
                }
                drain(index)
            }
        }
    }

    private static func send(
        _ packets: inout PacketQueue, to air: inout Air, from controller: ControllerID, at now: Instant
    ) {
        air.receive(packets.first, from: controller, at: now)
        packets.removeFirst()
    }

    private static func receive(_ packets: inout PacketQueue, by host: inout Host, at now: Instant) {
        host.receive(packets.first, at: now)
        packets.removeFirst()
    }

    private mutating func drain(_ index: Int) {
        while let event = hosts[index].events.next() {
            if transcript != nil { record("\(index) ! \(event) ", hosts[index].events.octets(of: event)) }
            if let observe {
                observe(index, event)
            } else {
                seen[index].append(Seen(event: event, bytes: hosts[index].events.octets(of: event)))
            }
        }
    }

    private mutating func record(_ what: String, _ octets: [UInt8]) {
        transcript?.append("\(now.nanoseconds) \(what)\(octets)")
    }

    /// The next instant at which something happens by itself.
    public var nextDeadline: Instant? {
        mutating get {
            hosts.indices.reduce(air.nextDeadline) { earliest($0, hosts[$1].nextDeadline) }
        }
    }

    /// Lets the next thing happen, at the latest at `limit`. False where nothing is left to happen until then.
    public mutating func step(until limit: Instant) -> Bool {
        settle()
        guard let deadline = nextDeadline, deadline <= limit else { return false }
        now = max(now, deadline)
        air.fire(at: now)
        for index in hosts.indices { hosts[index].fire(at: now) }
        settle()
        return true
    }

    /// Lets time pass.
    public mutating func run(for duration: Duration) {
        let limit = now.advanced(by: duration)
        while step(until: limit) {}
        now = limit
    }

    /// Lets time pass until host `index` has reported an event that `match` picks something from; nil after `limit`.
    /// Events before it are forgotten.
    public mutating func next<Value>(
        _ index: Int, within limit: Duration = .seconds(10), _ match: (Seen) -> Value?
    ) -> Value? {
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

extension HostEvent {
    /// The link that has come into being; nil for other events.
    public var connectedLink: LinkIdentifier? {
        if case .link(let link, .connected) = self { link } else { nil }
    }

    /// Where its octets are; nil where it has none.
    var payload: Payload? {
        switch self {
        case .client(_, .notification(_, let payload)), .client(_, .indication(_, let payload)),
            .server(_, .valueWritten(_, let payload)), .channel(_, .received(_, let payload)),
            .server(_, .writeRequested(_, _, let payload)):
            payload
        case .advertisement(let advertisement): advertisement.data
        case .periodic(_, .report(let report)), .subevents(_, .response(_, _, let report)): report.data
        default: nil
        }
    }
}

extension HostEventQueue {
    /// The octets that an event of this queue carries.
    public func octets(of event: HostEvent) -> [UInt8] {
        event.payload.map { Array(bytes(of: $0)) } ?? []
    }
}
