import ArgumentParser
import BluetoothLE

/// The arguments of a command that uses one device: which it is, and how long finding it may take.
public struct DeviceOptions: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            "Its address, such as C0:11:22:33:44:55 (/P marks a public one), or its exact name where no other device in "
                + "range has it. See ble scan.",
            valueName: "device"))
    public var device: DeviceSelector

    @Option(
        help: ArgumentHelp(
            "How long finding and connecting may take, and trying again after a reset of the controller or a lost packet.",
            valueName: "seconds"))
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
    ///
    /// All of it is done again, on another link, if the controller was reset or a packet was lost, for as long as there is time.
    public func withConnection<Value: Sendable>(
        _ transport: TransportOptions, _ pairing: PairingOptions,
        _ body: (Connection, Attempts) async throws -> Value
    ) async throws -> Value {
        try await transport.withAdapter(within: timeout, pairing: pairing) { adapter, attempts in
            try await DeviceSearch(attempts).withConnection(to: device, pairing, on: adapter, body)
        }
    }
}
