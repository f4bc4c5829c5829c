import BluetoothLE

/// Finding a device and connecting to it, within one time that begins when this is made.
public struct DeviceSearch: Sendable {
    /// How long other devices with the same name are looked for, once there is one.
    private static let survey = Duration.seconds(2)
    /// How many devices with the same name are listed.
    private static let listLimit = 8

    private let timeout: Seconds
    private let end: ContinuousClock.Instant

    public init(within timeout: Seconds) {
        self.timeout = timeout
        end = .now + timeout.duration
    }

    private var left: Duration { max(.zero, end - .now) }

    /// Connects to the device that a user named.
    ///
    /// - Throws: `CommandFailure`, see `DeviceOptions.connect`.
    public func connect(to device: DeviceSelector, on adapter: Adapter) async throws -> Connection {
        switch device {
        case .address(let address): try await connect(to: address, on: adapter)
        case .name(let name): try await connect(to: try await address(of: name, on: adapter), on: adapter)
        }
    }

    /// Waits for a device that a filter lets through.
    ///
    /// - Parameter what: the device for messages, such as `device` or `"Thermometer"`.
    /// - Throws: `.notFound` if there was none in time.
    public func firstSighting(for filter: ScanFilter, of what: String, on adapter: Adapter) async throws -> Sighting {
        do throws(BluetoothError) {
            let left = left
            return try await waiting(for: what, upTo: timeout) { () throws(BluetoothError) in
                try await withTimeout(left) { () throws(BluetoothError) in
                    try await adapter.firstSighting(for: filter)
                }
            }
        } catch {
            guard error == .timedOut else { throw error }
            throw CommandFailure(
                .notFound,
                "\(what) was not found in \(timeout) s; check that it advertises, or allow a longer --timeout")
        }
    }

    /// Connects to the device with an address.
    ///
    /// - Throws: `.notFound` if it was not connected in time, `.linkLost` if it was and did not answer.
    public func connect(to address: DeviceAddress, on adapter: Adapter) async throws -> Connection {
        do throws(BluetoothError) {
            let left = left
            return try await waiting(for: "a connection to \(address)", upTo: timeout) { () throws(BluetoothError) in
                try await adapter.connect(to: address, timeout: left)
            }
        } catch {
            switch error {
            case .timedOut:
                throw CommandFailure(
                    .notFound, "\(address) was not connected in \(timeout) s; move closer, or allow a longer --timeout")
            case .peerNotResponding:
                throw CommandFailure(
                    .linkLost,
                    "\(address) was connected, and did not answer; restart it, or allow a longer --timeout")
            default: throw error
            }
        }
    }

    /// The address of the one device that has a name.
    private func address(of name: String, on adapter: Adapter) async throws -> DeviceAddress {
        let filter = ScanFilter(name: .exact(name), isConnectableOnly: true)
        let first = try await firstSighting(for: filter, of: quoted(name), on: adapter)
        let others = try await adapter.scan(for: filter)
        let search = Task { await Self.distinct(others) }
        try? await waiting(for: "other devices named \(quoted(name))") {
            try await TimeLimits.clock.sleep(for: min(Self.survey, left))
        }
        search.cancel()
        var found = await search.value
        try Task.checkCancellation()
        if !found.contains(where: { $0.peer == first.peer }) { found.insert(first, at: 0) }
        guard found.count > 1 else { return first.address }
        let list = found.map { "\($0.address)" + ($0.rssi.map { " (\($0) dBm)" } ?? "") }.joined(separator: ", ")
        throw CommandFailure(.usage, "several devices are named \(quoted(name)): \(list); give the address")
    }

    /// The devices that a scan finds until it is cancelled, each once.
    private static func distinct(_ sightings: EventSequence<Sighting>) async -> [Sighting] {
        var found: [Sighting] = []
        // If the adapter fails, connecting reports that.
        do {
            for try await sighting in sightings where !found.contains(where: { $0.peer == sighting.peer }) {
                found.append(sighting)
                if found.count == listLimit { break }
            }
        } catch {}
        return found
    }
}
