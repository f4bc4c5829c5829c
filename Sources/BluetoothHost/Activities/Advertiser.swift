import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// How to advertise (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingParameters: Equatable, Sendable {
    /// Whether peers may connect.
    public var isConnectable: Bool
    /// The range from which the controller takes its advertising interval, 20 ms to 10.24 s. Where peers cannot connect, it
    /// begins at 100 ms on controllers before version 5.0, which know no shorter one.
    public var interval: ClosedRange<Duration>
    /// At most 31 octets of AD structures.
    public var data: [UInt8]
    /// At most 31 octets of AD structures for those who ask.
    public var scanResponse: [UInt8]
    /// The one peer that may connect, by any of its names; nil for all. Such advertising carries no data (Core 5.4, Vol 3,
    /// Part C, 9.3.3). A peer that uses private addresses is found only if the controller resolves them, on both sides: see
    /// `peerResolvesAddresses`.
    public var peer: PeerID?
    /// Whether the peer's controller resolves private addresses, as its Central Address Resolution characteristic says (12.4). One
    /// that does not is advertised to under its identity address.
    public var peerResolvesAddresses = true
    /// After how long it ends; nil for not by itself. In limited discoverable mode, which the flags of `data` say, at most
    /// 180 seconds, which nil then means (Core 5.4, Vol 3, Part C, 9.2.3).
    public var duration: Duration?

    /// By default connectable, every 30 to 60 ms, which is found quickly.
    public init(
        isConnectable: Bool = true, interval: ClosedRange<Duration> = .milliseconds(30)...(.milliseconds(60)),
        data: [UInt8], scanResponse: [UInt8] = [], peer: PeerID? = nil, duration: Duration? = nil
    ) {
        self.isConnectable = isConnectable
        self.interval = interval
        self.data = data
        self.scanResponse = scanResponse
        self.peer = peer
        self.duration = duration
    }

    /// Whether it is in limited discoverable mode.
    private var isLimited: Bool { ADView(data.span).flags?.contains(.limitedDiscoverable) ?? false }

    /// After how long it ends.
    var limit: Duration? { duration ?? (isLimited ? GAPTiming.limitedAdvertisingTimeout : nil) }

    /// Vol 4, Part E, 7.8.5 and 7.8.7.
    var isValid: Bool {
        interval.lowerBound >= .milliseconds(20) && interval.upperBound <= .milliseconds(10240)
            && data.count <= 31 && scanResponse.count <= 31 && (peer == nil || isConnectable)
            && (limit.map { $0 > .zero && (!isLimited || $0 <= GAPTiming.limitedAdvertisingTimeout) } ?? true)
    }

    /// The interval for a controller of a version; nil where that is not known (Core 4.2, Vol 2, Part E, 7.8.5).
    fileprivate func interval(for version: CoreVersion?) -> ClosedRange<Duration> {
        guard !isConnectable, let version, version < .v50 else { return interval }
        let shortest = Duration.milliseconds(100)
        return max(shortest, interval.lowerBound)...max(shortest, interval.upperBound)
    }

    fileprivate var type: LEAdvertisingType {
        if peer != nil { return .connectableDirectedLowDutyCycle }
        if isConnectable { return .connectableUndirected }
        return scanResponse.isEmpty ? .nonConnectableUndirected : .scannableUndirected
    }
}

/// Advertising: what is wanted, and what the controller does about it.
struct Advertiser: Sendable {
    /// The commands that lead to advertising, or end it.
    enum Step: Equatable, Sendable {
        case setParameters, setData, setScanResponse, enable, disable
    }

    private enum State: Sendable {
        case idle
        /// Commands that will lead to `running` are with the controller. A peer that connects before the last of them is
        /// answered may have ended what it started.
        case starting(AdvertisingParameters, peerConnected: Bool)
        case running(AdvertisingParameters)
        case stopping
    }

    /// The addresses to advertise with.
    struct Addresses: Sendable {
        var own: OwnAddressType
        /// The one that directed advertising is for.
        var peer = DeviceAddress(0, kind: .public)
    }

    private struct Wanted: Sendable {
        let parameters: AdvertisingParameters
        /// When it ends by itself.
        let end: Instant?
        /// Whether its start has been reported.
        var isAnnounced = false
    }

    private var wanted: Wanted?
    private var state: State = .idle
    /// What becomes of advertising that leads to nothing. It waits for a second at most: one peer that connects and drops
    /// the link is not to keep all others from finding this device.
    private var backoff = Backoff(limit: .seconds(1))

    /// When something is due.
    var nextDeadline: Instant? {
        guard let wanted else { return nil }
        guard case .idle = state else { return wanted.end }
        return earliest(wanted.end, backoff.deadline)
    }

    /// Whether the controller neither advertises nor is about to begin or stop.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// The one peer that is wanted to connect.
    var target: PeerID? { wanted?.parameters.peer }

    /// Whether that peer finds itself under private addresses, too.
    var targetResolvesAddresses: Bool { wanted?.parameters.peerResolvesAddresses ?? true }

    /// Which activity it is that may have to yield.
    var activity: RadioArbiter.Activity {
        wanted?.parameters.isConnectable == false ? .otherAdvertising : .connectableAdvertising
    }

    /// Whether a peer may have connected: also while advertising is being started or stopped.
    var acceptsConnections: Bool {
        switch state {
        case .idle: false
        case .starting(let parameters, _), .running(let parameters): parameters.isConnectable
        case .stopping: true
        }
    }

    /// Whether anything is to be advertised.
    var isWanted: Bool { wanted != nil }

    // MARK: Calls

    mutating func start(_ parameters: AdvertisingParameters, at now: Instant) {
        wanted = Wanted(parameters: parameters, end: parameters.limit.map { now.advanced(by: $0) })
    }

    /// Ends advertising whose time is over.
    mutating func fire(at now: Instant) -> [Effect] {
        guard let end = wanted?.end, end <= now else { return [] }
        wanted = nil
        return [.report(.controller(.advertisingEnded))]
    }

    mutating func stop() { wanted = nil }

    /// Moves one step towards what is wanted.
    mutating func advance(
        _ verdict: RadioArbiter.Verdict, _ addresses: Addresses, _ version: CoreVersion?, at now: Instant
    ) -> [Effect] {
        guard verdict != .suspended else { return [] }
        switch state {
        case .idle:
            guard !backoff.waits(at: now), verdict == .proceed, let parameters = wanted?.parameters else { return [] }
            state = .starting(parameters, peerConnected: false)
            let interval = parameters.interval(for: version)
            let command = LESetAdvertisingParameters(
                intervalMin: LESlots(clamping: interval.lowerBound),
                intervalMax: LESlots(clamping: interval.upperBound), type: parameters.type,
                ownAddressType: addresses.own, peerAddress: addresses.peer)
            return [.send(command, for: .advertise(.setParameters))]
        case .running(let current):
            guard wanted?.parameters == current, verdict != .stop else { return disable() }
            return announce()
        case .starting, .stopping:
            return []
        }
    }

    private mutating func disable() -> [Effect] {
        state = .stopping
        return [.send(LESetAdvertisingEnable(isEnabled: false), for: .advertise(.disable))]
    }

    private mutating func announce() -> [Effect] {
        guard wanted?.isAnnounced == false else { return [] }
        wanted?.isAnnounced = true
        return [.report(.controller(.advertisingStarted))]
    }

    // MARK: The controller

    enum Outcome {
        case effects([Effect])
        /// The controller will not advertise like this.
        case refused(AdvertisingParameters)
    }

    /// Takes the answer to a step.
    mutating func answered(_ step: Step, _ status: HCIStatus) -> Outcome {
        switch (state, step) {
        case (.starting(let parameters, _), _) where status != .success:
            state = .idle
            return .refused(parameters)
        case (.starting(let parameters, _), .setParameters):
            return .effects([.send(LESetAdvertisingData(data: parameters.data), for: .advertise(.setData))])
        case (.starting(let parameters, _), .setData):
            let command = LESetScanResponseData(data: parameters.scanResponse)
            return .effects([.send(command, for: .advertise(.setScanResponse))])
        case (.starting, .setScanResponse):
            return .effects([.send(LESetAdvertisingEnable(isEnabled: true), for: .advertise(.enable))])
        case (.starting(let parameters, let peerConnected), .enable):
            state = .running(parameters)
            return .effects(peerConnected ? restart() : [])
        case (.stopping, .disable):
            // Whatever it answers, a controller that was asked to stop no longer advertises for this host.
            state = .idle
        default: break
        }
        return .effects([])
    }

    /// Whether a refusal with this status may be due to something else that the controller does.
    func mayWorkLater(_ status: HCIStatus) -> Bool {
        // What worked before will work again.
        status == .commandDisallowed || status == .connectionLimitExceeded || wanted?.isAnnounced == true
    }

    /// Gives up what the controller refused, unless something else is wanted by now.
    mutating func giveUp(_ refused: AdvertisingParameters, _ error: HostError) -> [Effect] {
        guard wanted?.parameters == refused else { return [] }
        wanted = nil
        return [.report(.controller(.advertisingFailed(error)))]
    }

    /// A peer has connected: the controller has stopped advertising by itself (Vol 4, Part E, 7.8.9).
    mutating func peerConnected() {
        switch state {
        case .running(let parameters) where parameters.isConnectable: state = .idle
        case .starting(let parameters, _): state = .starting(parameters, peerConnected: true)
        case .idle, .running, .stopping: break
        }
    }

    /// A link to which advertising led ended as soon as it began.
    mutating func linkWasShortLived(at now: Instant) { backoff.failed(at: now) }

    /// A peer has tried to connect and failed: starts over, since it is not known whether the controller still advertises.
    mutating func peerFailed(at now: Instant) -> [Effect] {
        backoff.failed(at: now)
        return restart()
    }

    /// Starts over where it is not known whether the controller still advertises.
    private mutating func restart() -> [Effect] {
        guard case .running(let parameters) = state, parameters.isConnectable else { return [] }
        return disable()
    }

    /// The controller was reset. What is wanted stays wanted.
    mutating func reset() {
        state = .idle
        backoff.succeeded()
    }

    /// The controller is gone. What has been on the air will be again, with the next one.
    mutating func abandon(_ error: HostError) -> [Effect] {
        guard let wanted, !wanted.isAnnounced else { return [] }
        return giveUp(wanted.parameters, error)
    }
}
