import BluetoothLE

/// A connection of the library, as a proxy's clients use it.
public struct ConnectionLink: ProxyLink {
    private let connection: Connection
    /// Opened before anything is asked for, so that no value is missed.
    private let session: ClientSession
    private let giveBack: @Sendable () -> Void

    /// - Parameter giveBack: gives its place back.
    public init(_ connection: Connection, giveBack: @escaping @Sendable () -> Void) async throws(BluetoothError) {
        self.connection = connection
        self.giveBack = giveBack
        session = try await connection.openSession()
    }

    public var mtu: Int {
        get async throws(ProxyError) { try await call { () throws(BluetoothError) in try await connection.mtu } }
    }

    public func discover() async throws(ProxyError) -> DiscoveredDatabase {
        try await call { () throws(BluetoothError) in try await connection.discoverAll() }
    }

    public func read(_ handle: AttributeHandle) async throws(ProxyError) -> [UInt8] {
        try await call { () throws(BluetoothError) in try await connection.read(handle) }
    }

    public func write(_ value: [UInt8], to handle: AttributeHandle) async throws(ProxyError) {
        try await call { () throws(BluetoothError) in try await connection.write(value, to: handle) }
    }

    public func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) async throws(ProxyError) {
        try await call { () throws(BluetoothError) in try await connection.writeWithoutResponse(value, to: handle) }
    }

    public func pair() async throws(ProxyError) {
        try await call { () throws(BluetoothError) in try await connection.pair() }
    }

    public func updateParameters(_ parameters: ConnectionParameters) async throws(ProxyError) {
        try await call { () throws(BluetoothError) in try await connection.updateParameters(parameters) }
    }

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

    public func close() async { try? await connection.disconnect() }

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
