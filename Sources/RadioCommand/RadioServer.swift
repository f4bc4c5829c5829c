import BluetoothBase
import BluetoothHCI
import BluetoothCommandLine
import HCITransport
import VirtualRadio

/// A radio in real time, and the ports through which hosts use its controllers. It runs on one thread, which sleeps
/// while there is no activity on the air and no host sends anything.
final class RadioServer {
    private var air: Air
    private var ports: [RadioPort] = []
    private let loop: EventLoop
    let capture: CaptureFile?
    let options: Options
    let start = MonotonicClock.now
    /// The generator of the faults of each controller, independent of those of the others.
    private var faults: HCIFaults?
    /// The bad weather on the air, if it is enabled.
    private var weather: AirWeather?
    private var lastToken = 0

    struct Options {
        /// The seed of all random bits on the air.
        var seed: UInt64 = 1
        /// Whether the controllers have extended advertising.
        var isExtended = false
        /// A btsnoop file for all packets, as seen by the hosts.
        var capture: String?
        /// The seed of faults on the air, and between the controllers and their hosts.
        var fault: UInt64?
        /// The delay of every packet between a controller and its host, in each direction.
        var delay = Duration.zero
        /// The faults between controllers and hosts.
        var faults: HCIFaults? {
            guard fault != nil || delay > .zero else { return nil }
            var rates = fault == nil ? HCIFaultRates.none : .badWeather
            rates.latency = delay
            return HCIFaults(rates, seed: fault ?? 0)
        }
        /// Whether each fault is reported.
        var isVerbose = false
        /// Whether each packet is shown.
        var isTraced = false
    }

    /// Ends the current wait of `run(until:)`, from any thread.
    var waker: Waker { loop.waker }

    init(_ options: Options = Options()) throws(TransportError) {
        self.options = options
        air = Air(seed: options.seed)
        faults = options.faults
        weather = options.fault.map { AirWeather(seed: $0, at: MonotonicClock.now) }
        loop = try EventLoop()
        capture =
            if let path = options.capture {
                try CaptureFile(path: path, datalink: .monitor) { say("\($0)") }
            } else {
                nil
            }
    }

    /// Adds a controller, and listens for its host or connects to it.
    ///
    /// - Parameter cancellation: cancels connecting, from any thread.
    func add(_ name: TransportName, cancellation: Waker? = nil) throws(TransportError) {
        let address = DeviceAddress(Self.firstAddress + UInt64(ports.count), kind: .public)
        var configuration = ControllerConfiguration(publicAddress: address)
        configuration.hasExtendedAdvertising = options.isExtended
        configuration.hasPeriodicAdvertising = options.isExtended
        let controller = air.addController(configuration)
        var port = try RadioPort(name, controller, faults: faults?.another())
        if port.listener == nil {
            let host = try name.open(as: .controller, cancellation: cancellation)
            port.host = try decorated(host, of: &port, at: ports.count)
        }
        ports.append(port)
        try watch(ports.count - 1)
        say("controller \(address) at \(port.name)" + (port.host?.otherEnd.map { ": \($0)" } ?? ""))
    }

    /// A public address like one assigned by a manufacturer.
    private static let firstAddress: UInt64 = 0x00_1B_DC_00_00_01

    /// Sets the path loss of every signal, in dB.
    func setPathLoss(_ loss: Int) {
        for (index, port) in ports.enumerated() {
            for other in ports[..<index] {
                air.setPathLoss(between: port.controller, and: other.controller, to: loss, at: MonotonicClock.now)
            }
        }
    }

    /// Serves hosts until `isOver` returns true, which is checked after every event, or until no host can connect any
    /// more.
    func run(until isOver: () -> Bool) throws(TransportError) {
        while !isOver() {
            for index in ports.indices { try deliver(index) }
            try retryAccepting()
            for event in loop.wait(until: nextDeadline) {
                // A port that has just changed its descriptor also has a new token.
                guard let index = ports.firstIndex(where: { $0.token == event.token }) else { continue }
                if ports[index].host == nil { try accept(index) } else { try receive(event, at: index) }
            }
            air.fire(at: MonotonicClock.now)
            changeWeather()
        }
    }

    private func changeWeather() {
        guard let fade = weather?.fire(at: MonotonicClock.now, on: &air), options.isVerbose else { return }
        let ends = [fade.first, fade.second].map { "\(air[$0].configuration.publicAddress)" }
        say("\(ends.joined(separator: " and ")) cannot hear each other for \(fade.duration)")
    }

    private var nextDeadline: Instant? {
        ports.reduce(earliest(air.nextDeadline, weather?.nextDeadline)) { earliest($0, $1.retry) }
    }

    // MARK: - Hosts

    private func accept(_ index: Int) throws(TransportError) {
        do throws(TransportError) {
            guard let host = try ports[index].listener?.accept() else { return }
            unwatch(index)
            ports[index].host = try decorated(host, of: &ports[index], at: index)
            try watch(index)
        } catch {
            guard error.isShortage else { throw error }
            if error != ports[index].shortage { say("\(error); trying again until a host can be accepted") }
            ports[index].shortage = error
            unwatch(index)
            ports[index].host?.close()
            ports[index].host = nil
            // Otherwise the waiting host would be reported continuously.
            ports[index].retry = MonotonicClock.now.advanced(by: TransportListener.retryDelay)
            return
        }
        ports[index].shortage = nil
        say("a host has connected to \(ports[index].name)")
    }

    /// Resumes watching the ports at which a host could not be accepted.
    private func retryAccepting() throws(TransportError) {
        for index in ports.indices {
            guard let retry = ports[index].retry, retry <= MonotonicClock.now else { continue }
            ports[index].retry = nil
            try watch(index)
        }
    }

    private func receive(_ event: EventLoop.Event, at index: Int) throws(TransportError) {
        guard let host = ports[index].host else { return }
        let controller = ports[index].controller
        let now = MonotonicClock.now
        do throws(TransportError) {
            if event.isWritable { try host.flush() }
            if event.isReadable { try host.receive { packet in air.receive(packet, from: controller, at: now) } }
        } catch {
            try dismiss(index, error)
        }
    }

    /// Sends the packets of a controller to its host.
    private func deliver(_ index: Int) throws(TransportError) {
        guard let host = ports[index].host else { return }
        let controller = ports[index].controller
        do throws(TransportError) {
            if !air[controller].outbox.isEmpty { try host.send(&air[controller].outbox) }
        } catch {
            // The rest is sent when the host has read. Until then the controller accepts no further packets.
            guard case .outputFull = error.reason else { return try dismiss(index, error) }
        }
        // The host may have read everything that was sent, although a part did not fit at first.
        try ports[index].watchForWriting(host.wantsWrite || !air[controller].outbox.isEmpty, on: loop)
    }

    /// Detaches a host from its controller, which returns to its power-on state. The next host may then connect.
    private func dismiss(_ index: Int, _ error: TransportError) throws(TransportError) {
        say(error.reason == .closedByPeer ? "the host at \(ports[index].name) has disconnected" : "\(error)")
        unwatch(index)
        ports[index].host?.close()
        ports[index].host = nil
        air.dismissHost(of: ports[index].controller, at: MonotonicClock.now)
        // The radio does not reconnect to a host, which may never return.
        if ports.allSatisfy({ $0.fileDescriptor == nil }) { throw error }
        try watch(index)
    }

    // MARK: - Watching

    /// Watches the host of a port if there is one, and otherwise its listener.
    private func watch(_ index: Int) throws(TransportError) {
        guard let descriptor = ports[index].fileDescriptor else { return }
        lastToken += 1
        ports[index].token = lastToken
        try loop.add(descriptor, token: lastToken, for: .read)
    }

    private func unwatch(_ index: Int) {
        if let descriptor = ports[index].fileDescriptor { loop.remove(descriptor) }
        ports[index].token = nil
        ports[index].isWatchedForWriting = false
    }
}
