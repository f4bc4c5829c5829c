import ArgumentParser
import BluetoothHost
import BluetoothLE
import BluetoothPlatform
import HCITransport

/// The options of a program that uses one adapter.
public struct TransportOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("transport"),
        help: ArgumentHelp(
            "Where the controller is: hci-socket[:ADAPTER], tcp-client:HOST:PORT, tcp-server:HOST:PORT, "
                + "unix-client:PATH, unix-server:PATH, serial:DEVICE[,BAUD][,rtscts] or pty[:LINK]. Defaults to the "
                + "environment variable BLUETOOTH_TRANSPORT, or without it to this machine's first adapter.",
            valueName: "name"),
        transform: TransportName.init)
    var name: TransportName?

    @Option(
        help: ArgumentHelp("Record the packets to and from the controller, for Wireshark.", valueName: "file"),
        completion: .file())
    var btsnoop: String?

    @OptionGroup var bonds: BondOptions

    @Option(
        help: ArgumentHelp(
            "Use this random static address, whatever the controller's address is. Bonded peers then recognize this "
                + "device on any dongle.",
            valueName: "address"),
        transform: Self.identity)
    var identity: DeviceAddress?

    /// Creates options for the argument parser to fill in.
    public init() {}

    /// The bits of a static address that must not all be equal (Core 5.4, Vol 6, Part B, 1.3.2.1).
    private static let randomPart: UInt64 = 0x3FFF_FFFF_FFFF

    private static func identity(_ argument: String) throws -> DeviceAddress {
        guard let address = DeviceAddress(argument) else { throw ValidationError(DeviceAddress.expectation) }
        let identity = DeviceAddress(address.value, kind: .random)
        guard identity.randomKind == .static, identity.value & Self.randomPart != 0,
            identity.value & Self.randomPart != Self.randomPart
        else {
            throw ValidationError(
                "\(argument) is not a random static address: the first octet must be C0 or higher, and the other 46 "
                    + "bits must not all be equal")
        }
        return identity
    }

    /// Checks the options.
    ///
    /// - Throws: `ValidationError` for `virtual`, because a radio inside the program has no other devices.
    public func validate() throws {
        if name == .virtual { throw ValidationError(Self.virtualRefusal) }
    }

    private static let virtualRefusal =
        "a virtual radio inside this program has no other devices; start \"ble radio unix-server:a unix-server:b\", and "
        + "use --transport unix-client:a"

    /// The environment variable that takes the place of `--transport`.
    static let variable = TransportName.environmentVariable

    /// The transport that the option names, otherwise the one in the environment, otherwise the first adapter.
    ///
    /// - Throws: a usage failure if the environment does not name a transport.
    func transport(inEnvironment value: String? = getenv(variable).map { String(cString: $0) }) throws -> TransportName
    {
        if let name { return name }
        guard let value, !value.isEmpty else { return .hciSocket(.first) }
        let name: TransportName
        do throws(TransportNameError) {
            name = try TransportName(value)
        } catch {
            throw CommandFailure(.usage, "\(Self.variable): \(error)")
        }
        guard name != .virtual else { throw CommandFailure(.usage, "\(Self.variable): \(Self.virtualRefusal)") }
        return name
    }

    /// Opens the adapter, passes it to `body`, and closes it, however `body` ends. Its peers are disconnected first.
    ///
    /// - Parameters:
    ///   - deviceName: the value of the Device Name characteristic; nil for the library's default.
    ///   - isRecovering: whether to wait for an adapter that is unplugged. Otherwise calls throw the reason.
    ///   - pairing: whether to pair, and how; nil for a program that never pairs.
    ///   - configure: changes the settings of the host.
    ///   - timeout: the time limit for opening, which for a server includes waiting for its first client; nil for no
    ///     limit.
    public func withAdapter<Value: Sendable>(
        deviceName: String? = nil, isRecovering: Bool = false, pairing: PairingOptions? = nil, timeout: Seconds? = nil,
        configure: (inout HostConfiguration) -> Void = { _ in }, _ body: (Adapter) async throws -> Value
    ) async throws -> Value {
        let options = try options(deviceName, isRecovering: isRecovering, pairing, configure)
        return try await withAdapter(options, timeout.map(Attempts.init(within:)), pairing, body)
    }

    /// Opens the adapter for an operation with one time limit, and recovers it if necessary. If the controller still
    /// refuses a command at the end, the adapter is opened again, and `body` runs again with the same attempts.
    ///
    /// - Parameter timeout: the time limit for opening, and then for the attempts.
    public func withAdapter<Value: Sendable>(
        within timeout: Seconds, deviceName: String? = nil, pairing: PairingOptions? = nil,
        configure: (inout HostConfiguration) -> Void = { _ in }, _ body: (Adapter, Attempts) async throws -> Value
    ) async throws -> Value {
        let options = try options(deviceName, isRecovering: true, pairing, configure)
        let deadline = SharedDeadline(timeout)
        return try await deadline.run { opening in
            try await withAdapter(options, opening, pairing) { adapter in try await body(adapter, deadline.begin()) }
        }
    }

    private func options(
        _ deviceName: String?, isRecovering: Bool, _ pairing: PairingOptions?,
        _ configure: (inout HostConfiguration) -> Void
    ) throws -> AdapterOptions {
        var options = AdapterOptions(captureFile: btsnoop)
        options.isRecovering = isRecovering
        options.report = { say("\($0)") }
        options.bonds = bonds.store
        options.reportBonds = { say("\($0)") }
        options.reportMissingCiphers = { say("devices cannot pair with this one: \($0)") }
        if let deviceName { options.host.deviceName = deviceName }
        if let identity { options.host.ownAddress = .staticRandom(identity) }
        if let pairing, pairing.pair {
            if let reason = SecurityConfiguration.unavailability { throw CommandFailure(.failure, "\(reason)") }
            pairing.agent.apply(to: &options.host)
        }
        configure(&options.host)
        return options
    }

    private func withAdapter<Value: Sendable>(
        _ options: AdapterOptions, _ attempts: Attempts?, _ pairing: PairingOptions?,
        _ body: (Adapter) async throws -> Value
    ) async throws -> Value {
        let adapter = try await openAgain(options, attempts)
        do {
            let value =
                if let pairing {
                    try await pairing.withAgent(on: adapter) { try await body(adapter) }
                } else {
                    try await body(adapter)
                }
            await adapter.close()
            return value
        } catch {
            await adapter.close()
            throw error
        }
    }

    /// The number of attempts to open an adapter whose controller fails during initialization.
    private static let openingLimit = 3

    /// Opens the adapter, and again if its controller fails in a way that another reset may resolve.
    private func openAgain(_ options: AdapterOptions, _ attempts: Attempts?) async throws -> Adapter {
        for _ in 1..<Self.openingLimit {
            do {
                return try await open(options, attempts)
            } catch let error as BluetoothError {
                guard case .adapter(let failure) = error.kind, failure.mayPass,
                    attempts?.left ?? .seconds(1) > .zero
                else { throw error }
                say("\(error); trying again")
            }
        }
        return try await open(options, attempts)
    }

    private func open(_ options: AdapterOptions, _ attempts: Attempts?) async throws -> Adapter {
        let transport = try transport(), timeout = attempts?.timeout, left = attempts?.left
        do throws(BluetoothError) {
            return try await waiting(for: "the controller at \(transport)", upTo: timeout) {
                () throws(BluetoothError) in
                guard let left else { return try await Adapter.open(transport, options: options) }
                return try await withTimeout(left) { () throws(BluetoothError) in
                    try await Adapter.open(transport, options: options)
                }
            }
        } catch {
            if error == .timedOut, let timeout {
                throw CommandFailure(
                    .transportFailed,
                    "\(transport): no controller was available in \(timeout) s; start the other side, or increase "
                        + "--timeout"
                )
            }
            guard case .transport(let failure) = error.kind, ExitStatus(failure) == .transportFailed,
                transport == .hciSocket(.first), name == nil
            else { throw error }
            throw CommandFailure(
                .transportFailed, "\(failure); to use another controller, set --transport or \(Self.variable)")
        }
    }
}

extension HostFailure {
    /// Whether the controller may start at the next attempt.
    fileprivate var mayPass: Bool {
        switch self {
        case .controllerNotResponding, .refused, .hardwareError, .malformedPacket: true
        case .lowEnergyNotSupported, .noDataBuffers: false
        }
    }
}
