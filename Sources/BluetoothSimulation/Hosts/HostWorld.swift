public import BluetoothBase
public import BluetoothHost
public import VirtualRadio

/// Hosts without adapters, on virtual controllers that share one air, in virtual time. It serves tests and benchmarks
/// of the host itself. For adapters and applications, use `World`.
///
///     var world = HostWorld()
///     let central = world.start(), peripheral = world.start()
///     guard let pair = world.connect(central, to: peripheral) else { … }
///
/// A `HostWorld` is a value: a copy is an independent world at the same instant.
public struct HostWorld: Sendable {
    /// An event together with its octets.
    public struct Seen: Sendable {
        /// The event as the host reported it.
        public var event: HostEvent
        /// The octets that belong to the event, such as a received value; empty if it has none.
        public var bytes: [UInt8]

        /// Creates an event together with its octets.
        public init(event: HostEvent, bytes: [UInt8] = []) {
            self.event = event
            self.bytes = bytes
        }
    }

    /// A link between two hosts: the hosts' indices, and the link's identifier on each.
    public struct Pair: Sendable {
        /// The index of the host that has the central role.
        public var central: Int
        /// The index of the host that has the peripheral role.
        public var peripheral: Int
        /// The identifier of the link on the central's host.
        public var centralLink: LinkIdentifier
        /// The identifier of the link on the peripheral's host.
        public var peripheralLink: LinkIdentifier

        /// Creates a pair from the indices of two hosts and the identifier of their link on each.
        public init(
            central: Int, peripheral: Int, centralLink: LinkIdentifier, peripheralLink: LinkIdentifier
        ) {
            self.central = central
            self.peripheral = peripheral
            self.centralLink = centralLink
            self.peripheralLink = peripheralLink
        }
    }

    /// The air that the controllers share.
    public var air: Air
    /// The hosts, in the order in which they were added. All methods refer to a host by its index in this array.
    public var hosts: [Host] = []
    /// The controller of each host, on `air`. Assigning another controller is like plugging the host's dongle in
    /// elsewhere.
    public var controllers: [ControllerID] = []
    /// The current time.
    public var now = Instant.zero
    /// The unread events of each host, oldest first.
    public var seen: [[Seen]] = []
    /// Called for each event with the index of its host. If set, events are not stored in `seen`. Use it for loads that
    /// would fill memory.
    public var observe: (@Sendable (Int, HostEvent) -> Void)?
    /// All packets and events, one line each: `NANOSECONDS HOST > OCTETS` for packets to the controller, `<` for
    /// packets to the host, and `!` with the event for events of the host. Nil, the default, records nothing.
    public var transcript: [String]?

    /// Creates a world without hosts.
    ///
    /// - Parameter seed: the seed of everything random on the air.
    public init(seed: UInt64 = 1) {
        air = Air(seed: seed)
    }

    // MARK: - Hosts

    /// Adds a host with a new controller, without starting it, and returns its index.
    ///
    /// - Parameters:
    ///   - configure: changes the controller's configuration. Its public address is A0:00:00:00:00:01 for the first
    ///     controller, and so on.
    ///   - configureHost: changes the host's configuration.
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

    /// Adds a host like `add`, and starts it.
    public mutating func start(
        _ configure: (inout ControllerConfiguration) -> Void = { _ in },
        host configureHost: (inout HostConfiguration) -> Void = { _ in }
    ) -> Int {
        let index = add(configure, host: configureHost)
        hosts[index].start(at: now)
        run(for: .milliseconds(100))
        return index
    }

    /// Connects `central` to `peripheral`, which starts advertising. Returns nil if that fails.
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

    /// Delivers packets between hosts and controllers until none are left, without letting time pass.
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

    /// The next instant at which something is due.
    public var nextDeadline: Instant? {
        mutating get {
            hosts.indices.reduce(air.nextDeadline) { earliest($0, hosts[$1].nextDeadline) }
        }
    }

    /// Advances to the next deadline, if it is not after `limit`. Returns false if nothing is due until then.
    public mutating func step(until limit: Instant) -> Bool {
        settle()
        guard let deadline = nextDeadline, deadline <= limit else { return false }
        now = max(now, deadline)
        air.fire(at: now)
        for index in hosts.indices { hosts[index].fire(at: now) }
        settle()
        return true
    }

    /// Advances time.
    public mutating func run(for duration: Duration) {
        let limit = now.advanced(by: duration)
        while step(until: limit) {}
        now = limit
    }

    /// Advances time until host `index` has reported an event for which `match` returns a value; nil if that does not
    /// happen within `limit`. Earlier events are discarded.
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
    /// The link that was established; nil for other events.
    public var connectedLink: LinkIdentifier? {
        if case .link(let link, .connected) = self { link } else { nil }
    }

    /// The location of the event's octets; nil if it has none.
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
    /// The octets of an event in this queue.
    public func octets(of event: HostEvent) -> [UInt8] {
        event.payload.map { Array(octets(of: $0)) } ?? []
    }
}
