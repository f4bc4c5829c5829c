import BluetoothLE

/// A connection of the library, as used by a proxy's clients.
public struct ConnectionLink: ProxyLink {
    private let connection: Connection
    /// Opened before the first request, so that no value is missed.
    private let session: ClientSession
    private let giveBack: @Sendable () -> Void

    /// - Parameter giveBack: returns the connection's place.
    public init(_ connection: Connection, giveBack: @escaping @Sendable () -> Void) async throws(BluetoothError) {
        self.connection = connection
        self.giveBack = giveBack
        session = try connection.openSession()
    }

    /// The current ATT_MTU in octets.
    public var mtu: Int {
        get async throws(ProxyError) {
            try await call { () throws(BluetoothError) in try connection.presentMTU() }
        }
    }

    /// Discovers all services, characteristics and descriptors of the device.
    public func discover() async throws(ProxyError) -> DiscoveredDatabase {
        try await call { () throws(BluetoothError) in try await connection.discoverAll() }
    }

    /// Reads the value of an attribute, however long it is.
    public func read(_ handle: AttributeHandle) async throws(ProxyError) -> [UInt8] {
        try await call { () throws(BluetoothError) in try await connection.read(handle) }
    }

    /// Writes the value of an attribute, and waits for the device's response.
    public func write(_ value: [UInt8], to handle: AttributeHandle) async throws(ProxyError) {
        try await call { () throws(BluetoothError) in try await connection.write(value, to: handle) }
    }

    /// Writes the value of an attribute without a response. Suspends while the link's queue is full.
    public func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) async throws(ProxyError) {
        try await call { () throws(BluetoothError) in try await connection.writeWithoutResponse(value, to: handle) }
    }

    /// Encrypts the link with the key of a bond, or pairs.
    public func pair() async throws(ProxyError) {
        try await call { () throws(BluetoothError) in try await connection.pair() }
    }

    /// Requests new connection parameters, and waits until they apply.
    public func updateParameters(_ parameters: ConnectionParameters) async throws(ProxyError) {
        try await call { () throws(BluetoothError) in try await connection.updateParameters(parameters) }
    }

    /// Passes each notification and indication to `take` until the connection ends, and returns the reason for its end.
    public func forward(_ take: @Sendable (AttributeHandle, [UInt8]) -> Void) async -> ProxyError {
        do throws(BluetoothError) {
            for try await event in session.events {
                if case .value(let value, let handle) = event { take(handle, value) }
            }
            return .endedByThisDevice
        } catch {
            return ProxyError(connecting: error)
        }
    }

    /// Disconnects, and returns when the connection has ended. Does nothing if it has already ended.
    public func close() async { try? await connection.disconnect() }

    /// Returns the connection's place.
    public func release() { giveBack() }

    private func call<Value>(
        _ body: () async throws(BluetoothError) -> Value
    ) async throws(ProxyError) -> Value {
        do throws(BluetoothError) {
            return try await body()
        } catch {
            throw ProxyError(error)
        }
    }
}

extension Connection {
    /// The ATT_MTU of a link that has not ended.
    ///
    /// - Throws: `.disconnected` if it has.
    package func presentMTU() throws(BluetoothError) -> Int {
        guard isConnected else { throw .disconnected(.unknown) }
        return mtu
    }
}
