import BluetoothBase
import BluetoothGAP
import DBus

/// One `org.bluez.AdvertisementMonitor1`: it tells its client which devices with matching data are in range.
final class Monitor {
    static let interface = "org.bluez.AdvertisementMonitor1"

    struct Pattern: Equatable {
        let start: Int
        let type: ADType
        let content: [UInt8]
    }

    /// A signal strength, and the time for which it must last.
    struct Threshold: Equatable {
        var rssi: Int16?
        var time: Duration
    }

    /// Where a device is.
    private enum Presence {
        /// Its signal is strong enough since this time, but not for long enough.
        case approaching(since: UInt64)
        /// The client knows of it. It was last strong enough at this time.
        case found(lastStrong: UInt64)
    }

    private let path: ObjectPath
    private unowned let client: Client
    private let patterns: [Pattern]
    private var low: Threshold
    private var high: Threshold
    private var devices: [PeerID: Presence] = [:]
    private var timer: Timers.ID?

    /// The maximum numbers of patterns and of devices.
    private static let patternLimit = 64
    private static let deviceLimit = 256
    /// How long a device that is not heard is present, if the client does not say.
    private static let lostTime = Duration.seconds(5)

    /// Nil if the properties are invalid.
    init?(_ path: ObjectPath, _ properties: DBusValue, _ client: Client) {
        guard properties["Type"]?.text == "or_patterns", let patterns = Self.patterns(properties["Patterns"]) else {
            return nil
        }
        self.path = path
        self.client = client
        self.patterns = patterns
        func rssi(_ name: String) -> Int16? {
            guard let value = properties[name]?.integer, (-127...20).contains(value) else { return nil }
            return Int16(value)
        }
        func time(_ name: String) -> Duration? {
            guard let value = properties[name]?.integer, (1...300).contains(value) else { return nil }
            return .seconds(Int64(value))
        }
        low = Threshold(rssi: rssi("RSSILowThreshold"), time: time("RSSILowTimeout") ?? Self.lostTime)
        high = Threshold(rssi: rssi("RSSIHighThreshold"), time: time("RSSIHighTimeout") ?? .zero)
    }

    private static func patterns(_ value: DBusValue?) -> [Pattern]? {
        guard let elements = value?.elements, !elements.isEmpty, elements.count <= patternLimit else { return nil }
        var patterns: [Pattern] = []
        for element in elements {
            guard let members = element.elements, members.count == 3, case .byte(let start) = members[0],
                case .byte(let type) = members[1], let content = members[2].octets, !content.isEmpty,
                Int(start) + content.count <= 31
            else { return nil }
            patterns.append(Pattern(start: Int(start), type: ADType(rawValue: type), content: content))
        }
        return patterns
    }

    // MARK: - Devices

    func sighted(_ sighting: borrowing Sighting) {
        guard matches(sighting) else { return }
        let now = MonotonicClock.microseconds
        let rssi = Int16(sighting.rssi ?? -127)
        let isHigh = high.rssi.map { rssi >= $0 } ?? true
        let isAboveLow = low.rssi.map { rssi >= $0 } ?? true
        switch devices[sighting.peer] {
        case nil where isHigh:
            guard devices.count < Self.deviceLimit else { return }
            devices[sighting.peer] = .approaching(since: now)
            advance(sighting, at: now)
        case nil: return
        case .approaching where isHigh: advance(sighting, at: now)
        case .approaching: devices[sighting.peer] = nil
        case .found where isAboveLow:
            devices[sighting.peer] = .found(lastStrong: now)
            _ = client.daemon.devices.monitored(sighting)
        case .found: _ = client.daemon.devices.monitored(sighting)
        }
        checkLater()
    }

    private func advance(_ sighting: borrowing Sighting, at now: UInt64) {
        guard case .approaching(let since) = devices[sighting.peer], now - since >= Self.microseconds(high.time),
            let device = client.daemon.devices.monitored(sighting)
        else { return }
        devices[sighting.peer] = .found(lastStrong: now)
        client.tell(path, Self.interface, "DeviceFound", [.objectPath(device.path)])
    }

    private func matches(_ sighting: borrowing Sighting) -> Bool {
        for pattern in patterns {
            if pattern.matches(sighting.advertisingData) || pattern.matches(sighting.scanResponseData) { return true }
        }
        return false
    }

    private func checkLater() {
        guard timer == nil, !devices.isEmpty else { return }
        timer = client.daemon.timers.schedule(after: .seconds(1)) { [weak self] in self?.check() }
    }

    /// Reports the devices that have not been heard for a while.
    private func check() {
        timer = nil
        let now = MonotonicClock.microseconds, limit = Self.microseconds(low.time)
        for (peer, presence) in devices {
            switch presence {
            case .approaching(let since):
                if now - since > limit + Self.microseconds(high.time) { devices[peer] = nil }
            case .found(let lastStrong):
                guard now - lastStrong > limit else { continue }
                devices[peer] = nil
                guard let device = client.daemon.devices[peer] else { continue }
                client.tell(path, Self.interface, "DeviceLost", [.objectPath(device.path)])
            }
        }
        checkLater()
    }

    func end() {
        client.daemon.timers.cancel(timer)
        timer = nil
        devices = [:]
    }

    private static func microseconds(_ duration: Duration) -> UInt64 { UInt64(max(duration / .microseconds(1), 0)) }
}

extension Monitor.Pattern {
    /// Whether an AD structure of this type has the content at this position.
    func matches(_ data: [UInt8]) -> Bool {
        var structures = ADStructures(data.span)
        while let structure = structures.next() {
            guard structure.type == type, start + content.count <= structure.data.count else { continue }
            if content.indices.allSatisfy({ content[$0] == structure.data[start + $0] }) { return true }
        }
        return false
    }
}
