import ArgumentParser
import BluetoothLE

/// The arguments of a command that uses one device: the device, and the time limit for finding it.
public struct DeviceOptions: ParsableArguments, Sendable {
    /// The device to use: an address, or a name that no other device in range has.
    @Argument(
        help: ArgumentHelp(
            "The device's address, such as C0:11:22:33:44:55 (/P marks a public one), or its exact name if no other "
                + "device in range has it. See ble scan.",
            valueName: "device"))
    public var device: DeviceSelector

    /// The time limit for finding the device and connecting to it, including repeated attempts. Defaults to 30 s.
    @Option(
        help: ArgumentHelp(
            "The time limit for finding the device and connecting, including retries after a controller reset or a "
                + "lost packet.",
            valueName: "seconds"))
    public var timeout = Seconds(30)

    /// Creates options for the argument parser to fill in.
    public init() {}

    /// Finds the device and connects to it.
    ///
    /// - Throws: `CommandFailure` with a remedy: `.notFound` if it was not connected in time, `.usage` if several
    ///   devices have its name, `.linkLost` if it did not answer.
    public func connect(_ adapter: Adapter) async throws -> Connection {
        try await DeviceSearch(within: timeout).connect(to: device, on: adapter)
    }

    /// Opens the adapter, connects to the device, pairs if requested, passes the connection to `body`, and disconnects,
    /// however `body` ends.
    ///
    /// If the controller was reset or a packet was lost, everything is repeated over another link, as long as there is
    /// time.
    public func withConnection<Value: Sendable>(
        _ transport: TransportOptions, _ pairing: PairingOptions,
        _ body: (Connection, Attempts) async throws -> Value
    ) async throws -> Value {
        try await transport.withAdapter(within: timeout, pairing: pairing) { adapter, attempts in
            try await DeviceSearch(attempts).withConnection(to: device, pairing, on: adapter, body)
        }
    }
}
