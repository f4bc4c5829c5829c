import BluetoothBase
import BluetoothGAP
import BluetoothHCI

extension Host {
    /// Scans until `stopScanning`. A second call replaces the parameters.
    public mutating func startScanning(_ parameters: ScanParameters, at now: Instant) throws(HostError) {
        guard parameters.isValid else { throw .invalidParameters }
        scanner.wanted = parameters
        reconcileScanning(at: now)
    }

    /// Stops scanning. Reports the controller has sent already may still come.
    public mutating func stopScanning(at now: Instant) {
        scanner.wanted = nil
        scanner.watchdog = ScanWatchdog()
        reconcileScanning(at: now)
    }

    /// Moves the scanner one step towards what is wanted.
    mutating func reconcileScanning(at now: Instant) {
        guard bringUp.state == .up, scanner.activity.isSettled else { return }
        let wanted = scanner.isPaused ? nil : scanner.wanted
        switch scanner.activity {
        case .idle:
            guard let wanted else { return }
            scanner.activity = .starting(wanted)
            let parameters = LESetScanParameters(
                type: wanted.isActive ? .active : .passive, interval: LESlots(clamping: wanted.interval),
                window: LESlots(clamping: wanted.window), ownAddressType: ownAddressType)
            send(parameters, for: .scanParameters, at: now)
        case .running(let current):
            guard wanted != current else { return }
            disableScanning(at: now)
        case .starting, .stopping:
            return
        }
    }

    private mutating func disableScanning(at now: Instant) {
        scanner.activity = .stopping
        scanner.watchdog.stop()
        send(LESetScanEnable(isEnabled: false), for: .scanEnable(false), at: now)
    }

    /// A scan that has gone silent is stopped, and begins anew. A controller that does not answer even that is reset.
    mutating func fireScanning(at now: Instant) {
        guard scanner.watchdog.fire(at: now), case .running = scanner.activity else { return }
        disableScanning(at: now)
    }

    mutating func scanParametersAnswered(_ status: HCIStatus, at now: Instant) {
        guard case .starting(let parameters) = scanner.activity else { return }
        guard status == .success else { return scanningRefused(status, parameters, at: now) }
        let enable = LESetScanEnable(isEnabled: true, filterDuplicates: !parameters.reportsDuplicates)
        send(enable, for: .scanEnable(true), at: now)
    }

    mutating func scanEnableAnswered(_ status: HCIStatus, enabled: Bool, at now: Instant) {
        switch (scanner.activity, enabled) {
        case (.starting(let parameters), true):
            guard status == .success else { return scanningRefused(status, parameters, at: now) }
            scanner.activity = .running(parameters)
            // A controller that reports each advertiser once has reason to be silent.
            if parameters.reportsDuplicates, let limit = configuration.scanSilenceLimit {
                scanner.watchdog.start(limit, at: now)
            }
        case (.stopping, false):
            // Whatever it answers, a controller told to stop is not scanning for us.
            scanner.activity = .idle
        default: return
        }
        reconcileScanning(at: now)
        // The initiator may wait for the scanner to stop.
        reconcileConnecting(at: now)
    }

    private mutating func scanningRefused(_ status: HCIStatus, _ refused: ScanParameters, at now: Instant) {
        scanner.activity = .idle
        if status == .commandDisallowed, initiator.isBusy {
            // This controller cannot scan while it initiates a connection: go on when that is over.
            scanner.isPaused = true
        } else if scanner.wanted == refused {
            scanner.wanted = nil
            events.append(.controller(.scanningFailed(.controller(status))))
        }
        reconcileScanning(at: now)
        reconcileConnecting(at: now)
    }

    /// One `LE Advertising Report` event (Vol 4, Part E, 7.7.65.2), which may hold several reports.
    mutating func receive(_ reports: consuming LEAdvertisingReports, at now: Instant) {
        // Reports that were under way when scanning was stopped concern nobody any more.
        guard scanner.wanted != nil else { return }
        scanner.watchdog.hear(at: now)
        while let report = reports.next() {
            guard let type = AdvertisingEventType(legacyEventType: report.eventType.rawValue) else { continue }
            received(type, report.address, report.rssi, report.data)
        }
    }

    /// One `LE Extended Advertising Report` event (Vol 4, Part E, 7.7.65.13). The host has not asked for them, but
    /// Bumble's controllers report even what they scan by the legacy commands in this way.
    mutating func receive(_ reports: consuming LEExtendedAdvertisingReports, at now: Instant) {
        guard scanner.wanted != nil else { return }
        scanner.watchdog.hear(at: now)
        while let report = reports.next() {
            // Fragments are not put together; legacy advertising has none.
            guard let address = report.address, report.eventType.dataStatus == .complete else { continue }
            let type = AdvertisingEventType(rawValue: UInt8(truncatingIfNeeded: report.eventType.rawValue & 0x1F))
            received(type, address, report.rssi, report.data)
        }
    }

    private mutating func received(
        _ type: AdvertisingEventType, _ address: DeviceAddress, _ rssi: Int8, _ data: Span<UInt8>
    ) {
        let data = events.store(data)
        events.append(
            .advertisement(
                Advertisement(type: type, address: address, peer: peers.peer(at: address), rssi: rssi, data: data)))
    }
}

extension ScanParameters {
    /// Vol 4, Part E, 7.8.10: both 2.5 ms to 10.24 s, the window no longer than the interval.
    package var isValid: Bool {
        let range = Duration.microseconds(2500)...Duration.milliseconds(10240)
        return range.contains(interval) && range.contains(window) && window <= interval
    }
}
