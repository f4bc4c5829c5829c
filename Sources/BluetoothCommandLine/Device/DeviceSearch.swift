import BluetoothLE

/// Finds a device and connects to it, within the time of its attempts.
public struct DeviceSearch: Sendable {
    /// The attempts to reach the device, with their time limit.
    public let attempts: Attempts

    /// Creates a search that shares the time limit of these attempts.
    public init(_ attempts: Attempts) { self.attempts = attempts }

    /// The time limit starts when the search is created.
    public init(within timeout: Seconds) { self.init(Attempts(within: timeout)) }

    private var timeout: Seconds { attempts.timeout }

    /// Connects to the device that a user named.
    ///
    /// - Throws: `CommandFailure`, see `DeviceOptions.connect`.
    public func connect(to device: DeviceSelector, on adapter: Adapter) async throws -> Connection {
        try await connect(to: try await address(of: device, on: adapter), on: adapter)
    }

    /// Connects to the device that a user named, pairs if requested, passes the connection to `body`, and disconnects.
    /// Everything is repeated if that may help, see `Attempts.run`. A device with a name is searched for in each
    /// attempt, because its address may have changed.
    public func withConnection<Value: Sendable>(
        to device: DeviceSelector, _ pairing: PairingOptions, on adapter: Adapter,
        _ body: (Connection, Attempts) async throws -> Value
    ) async throws -> Value {
        try await attempts.run(on: adapter) {
            let connection = try await connect(to: device, on: adapter)
            try await pairing.protect(connection)
            let value = try await body(connection, attempts)
            // The work is done, whatever happens to the link. If `body` throws, the adapter disconnects.
            try? await connection.disconnect()
            return value
        }
    }

    /// The address of the device that a user named.
    ///
    /// - Throws: the errors of `sighting(named:for:parameters:on:)`.
    public func address(of device: DeviceSelector, on adapter: Adapter) async throws -> DeviceAddress {
        switch device {
        case .address(let address): address
        case .name(let name):
            try await sighting(named: name, for: ScanFilter(isConnectableOnly: true), on: adapter).address
        }
    }

    /// Waits for the only device with exactly this name.
    ///
    /// After three seconds, it prints names that are close.
    ///
    /// - Parameter filter: the devices among which it searches.
    /// - Throws: `.notFound` if there was none in time, `.usage` if there are several.
    public func sighting(
        named name: String, for filter: ScanFilter,
        parameters: ScanParameters = ScanParameters(reportsDuplicates: false),
        on adapter: Adapter
    ) async throws -> Sighting {
        let scan = NameScan(name)
        let found = try await scan.run(for: filter, parameters: parameters, on: adapter, attempts)
        guard let found else { throw absence(of: quoted(name), scan.suggestion) }
        return found
    }

    /// Waits for a device that matches a filter.
    ///
    /// - Parameter what: the device for messages, such as `device` or `"Thermometer"`.
    /// - Throws: `.notFound` if there was none in time.
    public func firstSighting(for filter: ScanFilter, of what: String, on adapter: Adapter) async throws -> Sighting {
        do throws(BluetoothError) {
            let left = attempts.left
            return try await waiting(for: what, upTo: timeout) { () throws(BluetoothError) in
                try await withTimeout(left) { () throws(BluetoothError) in
                    try await adapter.firstSighting(for: filter)
                }
            }
        } catch {
            guard error == .timedOut else { throw error }
            throw absence(of: what)
        }
    }

    private func absence(of what: String, _ suggestion: String = "") -> CommandFailure {
        CommandFailure(
            .notFound,
            "\(what) was not found in \(timeout) s"
                + (suggestion.isEmpty ? "; check that it advertises, or increase --timeout" : suggestion),
            isAbsence: true)
    }

    /// Connects to a device that was found.
    ///
    /// - Throws: `.notFound` if it was not connected in time, `.linkLost` if it was connected and did not answer.
    public func connect(to sighting: Sighting, on adapter: Adapter) async throws -> Connection {
        try await connect(to: sighting.peer, called: sighting.address, on: adapter)
    }

    /// Connects to the device with an address. Throws the same errors.
    public func connect(to address: DeviceAddress, on adapter: Adapter) async throws -> Connection {
        try await connect(to: PeerID(address), called: address, on: adapter)
    }

    private func connect(
        to peer: PeerID, called address: DeviceAddress, on adapter: Adapter
    ) async throws -> Connection {
        try await waiting(for: "a connection to \(address)", upTo: timeout) {
            var hasBeenConnected = false
            while true {
                do throws(BluetoothError) {
                    return try await adapter.connect(to: peer, timeout: min(attempts.left, attempts.answerLimit))
                } catch {
                    guard error == .timedOut || error == .peerNotResponding else { throw error }
                    if error == .peerNotResponding { hasBeenConnected = true }
                    // The remaining time is not enough for a connection.
                    guard attempts.left < .milliseconds(100) else { continue }
                }
                guard hasBeenConnected else {
                    throw CommandFailure(
                        .notFound,
                        "could not connect to \(address) in \(timeout) s; move closer, or increase --timeout",
                        isAbsence: true)
                }
                throw CommandFailure(
                    .linkLost, "\(address) was connected but did not answer; restart it, or increase --timeout")
            }
        }
    }
}
