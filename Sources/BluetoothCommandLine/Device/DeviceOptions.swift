import ArgumentParser
import BluetoothLE

/// The arguments of a command that uses one device: which it is, and how long finding it may take.
public struct DeviceOptions: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            "Its address, such as C0:11:22:33:44:55 (/P marks a public one), or its name where no other device in range "
                + "has it. See ble scan.",
            valueName: "device"))
    public var device: DeviceSelector

    @Option(help: ArgumentHelp("How long finding and connecting may take.", valueName: "seconds"))
    public var timeout = Seconds(30)

    public init() {}

    /// Finds the device and connects to it.
    ///
    /// - Throws: `CommandFailure` with what to do: `.notFound` if it was not connected in time, `.usage` if several
    ///   devices have its name, `.linkLost` if it did not answer.
    public func connect(_ adapter: Adapter) async throws -> Connection {
        try await DeviceSearch(within: timeout).connect(to: device, on: adapter)
    }

    /// Opens the adapter, connects to the device, pairs if that was asked for, passes the connection to `body`, and
    /// disconnects, however `body` ends.
    public func withConnection<Value: Sendable>(
        _ transport: TransportOptions, _ pairing: PairingOptions,
        _ body: (Adapter, Connection) async throws -> Value
    ) async throws -> Value {
        try await transport.withAdapter(pairing: pairing, timeout: timeout) { adapter in
            let connection = try await connect(adapter)
            try await pairing.protect(connection)
            let value = try await body(adapter, connection)
            // It has been done, whatever happens to the link. Where the body throws, the adapter disconnects.
            try? await connection.disconnect()
            return value
        }
    }
}
