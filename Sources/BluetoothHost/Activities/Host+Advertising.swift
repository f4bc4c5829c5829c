import BluetoothBase
import BluetoothHCI

extension Host {
    /// Advertises until `stopAdvertising`. A second call replaces what is advertised. Advertising goes on after a peer
    /// has connected, as soon as the controller can.
    public mutating func startAdvertising(_ parameters: AdvertisingParameters, at now: Instant) throws(HostError) {
        guard parameters.isValid else { throw .invalidParameters }
        advertiser.wanted = parameters
        advertiser.isPaused = false
        advertiser.hasAnnounced = false
        reconcileAdvertising(at: now)
    }

    /// Whether anything is to be advertised, now or as soon as the controller can.
    public var isAdvertisingWanted: Bool { advertiser.wanted != nil }

    /// Stops advertising. A peer may still have connected before the controller stopped.
    public mutating func stopAdvertising(at now: Instant) {
        advertiser.wanted = nil
        advertiser.isPaused = false
        reconcileAdvertising(at: now)
    }

    /// Moves the advertiser one step towards what is wanted.
    mutating func reconcileAdvertising(at now: Instant) {
        guard bringUp.state == .up, advertiser.activity.isSettled, !advertiser.isPaused else { return }
        switch advertiser.activity {
        case .idle:
            // A peer that connects now could only be sent away.
            guard let wanted = advertiser.wanted, links.hasRoom || !wanted.isConnectable else { return }
            advertiser.activity = .starting(wanted)
            advertiser.mayHaveEnded = false
            send(
                LESetAdvertisingParameters(
                    intervalMin: LESlots(clamping: wanted.interval.lowerBound),
                    intervalMax: LESlots(clamping: wanted.interval.upperBound), type: wanted.type,
                    ownAddressType: ownAddressType),
                for: .advertisingParameters, at: now)
        case .running(let current):
            guard advertiser.wanted != current else { return announceAdvertising() }
            disableAdvertising(at: now)
        case .starting, .stopping:
            return
        }
    }

    private mutating func disableAdvertising(at now: Instant) {
        advertiser.activity = .stopping
        send(LESetAdvertisingEnable(isEnabled: false), for: .advertisingEnable(false), at: now)
    }

    /// An answer to one of the commands that lead to advertising: the next one follows, or the refusal is told.
    mutating func advertisingAnswered(_ purpose: CommandPurpose, _ status: HCIStatus, at now: Instant) {
        switch (advertiser.activity, purpose) {
        case (.starting(let wanted), _) where status != .success:
            advertisingRefused(status, wanted)
        case (.starting(let wanted), .advertisingParameters):
            send(LESetAdvertisingData(data: wanted.data), for: .advertisingData, at: now)
        case (.starting(let wanted), .advertisingData):
            send(LESetScanResponseData(data: wanted.scanResponse), for: .scanResponseData, at: now)
        case (.starting, .scanResponseData):
            send(LESetAdvertisingEnable(isEnabled: true), for: .advertisingEnable(true), at: now)
        case (.starting(let wanted), .advertisingEnable(true)):
            advertiser.activity = .running(wanted)
            if advertiser.mayHaveEnded { advertisingMayHaveEnded(at: now) }
        case (.stopping, .advertisingEnable(false)):
            // Whatever it answers, a controller told to stop is not advertising for us.
            advertiser.activity = .idle
        default: return
        }
        reconcileAdvertising(at: now)
    }

    private mutating func announceAdvertising() {
        guard !advertiser.hasAnnounced else { return }
        advertiser.hasAnnounced = true
        events.append(.controller(.advertisingStarted))
    }

    private mutating func advertisingRefused(_ status: HCIStatus, _ wanted: AdvertisingParameters) {
        advertiser.activity = .idle
        // What worked before will work again, once there is as much room for it.
        let isForWantOfRoom =
            status == .commandDisallowed || status == .connectionLimitExceeded || advertiser.hasAnnounced
        if isForWantOfRoom, !links.isEmpty || initiator.isBusy {
            advertiser.isPaused = true
        } else if advertiser.wanted == wanted {
            advertiser.wanted = nil
            events.append(.controller(.advertisingFailed(.controller(status))))
        }
    }

    /// A controller stops advertising by itself when a peer connects (Vol 4, Part E, 7.8.9).
    mutating func advertisingEndedByConnection(at now: Instant) {
        switch advertiser.activity {
        case .running(let parameters) where parameters.isConnectable: advertiser.activity = .idle
        case .starting: advertiser.mayHaveEnded = true
        case .idle, .running, .stopping: break
        }
        reconcileAdvertising(at: now)
    }

    /// Starts over with an advertiser of which it is not known whether it still advertises.
    mutating func advertisingMayHaveEnded(at now: Instant) {
        guard case .running(let parameters) = advertiser.activity, parameters.isConnectable else { return }
        disableAdvertising(at: now)
    }
}

extension AdvertisingParameters {
    /// Vol 4, Part E, 7.8.5 and 7.8.7.
    var isValid: Bool {
        interval.lowerBound >= .milliseconds(20) && interval.upperBound <= .milliseconds(10240)
            && data.count <= 31 && scanResponse.count <= 31
    }

    var type: LEAdvertisingType {
        if isConnectable { return .connectableUndirected }
        return scanResponse.isEmpty ? .nonConnectableUndirected : .scannableUndirected
    }
}
