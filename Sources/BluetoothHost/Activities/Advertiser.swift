import BluetoothBase
import BluetoothHCI

/// How to advertise (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingParameters: Equatable, Sendable {
    /// Whether peers may connect.
    public var isConnectable: Bool
    /// The range from which the controller takes its advertising interval, 20 ms to 10.24 s.
    public var interval: ClosedRange<Duration>
    /// At most 31 octets of AD structures.
    public var data: [UInt8]
    /// At most 31 octets of AD structures for those who ask.
    public var scanResponse: [UInt8]

    /// By default connectable, every 30 to 60 ms, which is found quickly.
    public init(
        isConnectable: Bool = true, interval: ClosedRange<Duration> = .milliseconds(30)...(.milliseconds(60)),
        data: [UInt8], scanResponse: [UInt8] = []
    ) {
        self.isConnectable = isConnectable
        self.interval = interval
        self.data = data
        self.scanResponse = scanResponse
    }

    /// Vol 4, Part E, 7.8.5 and 7.8.7.
    var isValid: Bool {
        interval.lowerBound >= .milliseconds(20) && interval.upperBound <= .milliseconds(10240)
            && data.count <= 31 && scanResponse.count <= 31
    }

    fileprivate var type: LEAdvertisingType {
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

    private struct Wanted: Sendable {
        let parameters: AdvertisingParameters
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
        guard case .idle = state, wanted != nil else { return nil }
        return backoff.deadline
    }

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

    mutating func start(_ parameters: AdvertisingParameters) { wanted = Wanted(parameters: parameters) }

    mutating func stop() { wanted = nil }

    /// Moves one step towards what is wanted.
    mutating func advance(
        _ verdict: RadioArbiter.Verdict, ownAddressType: OwnAddressType, at now: Instant
    ) -> [Effect] {
        guard verdict != .suspended else { return [] }
        switch state {
        case .idle:
            guard !backoff.waits(at: now), verdict == .proceed, let parameters = wanted?.parameters else { return [] }
            state = .starting(parameters, peerConnected: false)
            let command = LESetAdvertisingParameters(
                intervalMin: LESlots(clamping: parameters.interval.lowerBound),
                intervalMax: LESlots(clamping: parameters.interval.upperBound), type: parameters.type,
                ownAddressType: ownAddressType)
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
