import BluetoothAdapter
import BluetoothHCI
import Foundation
import HCITransport
import Logging
import Synchronization

/// The controller that the managers of this process use, and the directory for their state. On Apple's platforms the
/// system decides both.
///
/// A manager reads these when it is created. Managers with the same transport share one adapter.
public enum BluetoothEnvironment {
    private struct Values {
        var transport = BluetoothTransport.default
        /// Nil for the default.
        var stateDirectory: URL?
        var showsSystemServices = false
        var pairing = BluetoothPairing()
        var logger = Logger(label: "CoreBluetooth") { StreamLogHandler.standardError(label: $0) }
    }

    private static let values = Mutex(Values())

    @TaskLocal private static var transportOfTask: BluetoothTransport?
    @TaskLocal private static var stateDirectoryOfTask: URL?
    /// The state of a test, which replaces the state directory.
    @TaskLocal static var memory: MemoryState?
    @TaskLocal private static var pairingOfTask: BluetoothPairing?
    @TaskLocal private static var loggerOfTask: Logger?
    /// The environment of a simulated world, which replaces all of these settings.
    @TaskLocal static var virtual: VirtualEnvironment?

    /// The controller. The default is the one that the environment variable `BLUETOOTH_TRANSPORT` names, such as
    /// `hci-socket:1` or `tcp-client:127.0.0.1:6402`, otherwise the first adapter of the machine.
    public static var transport: BluetoothTransport {
        get { transportOfTask ?? values.withLock { $0.transport } }
        set { values.withLock { $0.transport = newValue } }
    }

    /// The directory for restoration state, bonds and the key of peers' identifiers. The default is systemd's
    /// `STATE_DIRECTORY`, otherwise `swift-bluetooth-le` in `XDG_STATE_HOME`, otherwise in `~/.local/state`.
    ///
    /// Bonds made through a controller that does not belong to this machine, such as a virtual one, last only while the
    /// adapter is open, unless this property has been set.
    public static var stateDirectory: URL {
        get { chosenStateDirectory ?? defaultStateDirectory }
        set { values.withLock { $0.stateDirectory = newValue } }
    }

    /// The directory that the program has set; nil for the default.
    static var chosenStateDirectory: URL? { stateDirectoryOfTask ?? values.withLock { $0.stateDirectory } }

    private static let defaultStateDirectory = URL.stateDirectory

    /// Whether applications see the services that the system hides on Apple's platforms: Generic Access, Generic
    /// Attribute, Human Interface Device and Apple Notification Center Service. Defaults to false. A change applies to
    /// later discoveries.
    public static var showsSystemServices: Bool {
        get { values.withLock { $0.showsSystemServices } }
        set { values.withLock { $0.showsSystemServices = newValue } }
    }

    /// The user interaction for pairing. By default, pairing protects against passive eavesdropping only, and peers may
    /// pair while an application publishes a value that needs encryption. The value is read when the first manager on a
    /// transport is created.
    public static var pairing: BluetoothPairing {
        get { pairingOfTask ?? values.withLock { $0.pairing } }
        set { values.withLock { $0.pairing = newValue } }
    }

    /// The logger for misuse of the API and for failures, which Apple's framework reports on the console. Defaults to
    /// standard error.
    public static var logger: Logger {
        get { loggerOfTask ?? values.withLock { $0.logger } }
        set { values.withLock { $0.logger = newValue } }
    }

    /// Runs `body` with another logger. A simulated world reports problems in its own way.
    package static func with<Value>(logger: Logger, _ body: () throws -> Value) rethrows -> Value {
        try $loggerOfTask.withValue(logger, operation: body)
    }

    /// Makes the managers that `body` creates use a controller of a test, and keep their state in memory.
    package static func with<Value>(
        transport: BluetoothTransport, memory: MemoryState, pairing: BluetoothPairing, _ body: () throws -> Value
    ) rethrows -> Value {
        try $memory.withValue(memory) { try with(transport: transport, pairing: pairing, body) }
    }

    /// Makes the managers that `body` creates use a different controller from the rest of the process. This is for
    /// parallel tests, and for tests in which two managers communicate over a radio.
    public static func with<Value>(
        transport: BluetoothTransport, stateDirectory: URL? = nil, pairing: BluetoothPairing? = nil,
        _ body: () throws -> Value
    ) rethrows -> Value {
        try $transportOfTask.withValue(transport) {
            try $stateDirectoryOfTask.withValue(stateDirectory ?? chosenStateDirectory) {
                try $pairingOfTask.withValue(pairing ?? Self.pairing, operation: body)
            }
        }
    }
}

/// The transport to a controller.
public struct BluetoothTransport: Hashable, Sendable {
    enum Way: Hashable, Sendable {
        case named(String)
        case port(any PacketPort)

        static func == (lhs: Way, rhs: Way) -> Bool {
            switch (lhs, rhs) {
            case (.named(let lhs), .named(let rhs)): lhs == rhs
            case (.port(let lhs), .port(let rhs)): lhs.identity == rhs.identity
            case (.named, .port), (.port, .named): false
            }
        }

        func hash(into hasher: inout Hasher) {
            switch self {
            case .named(let name): hasher.combine(name)
            case .port(let port): hasher.combine(port.identity)
            }
        }
    }

    let way: Way

    static let `default` = BluetoothTransport(
        ProcessInfo.processInfo.environment["BLUETOOTH_TRANSPORT"] ?? "hci-socket")

    /// Creates a transport by its name: `hci-socket:0`, `hci-socket:00:1A:7D:DA:71:13`, `virtual`,
    /// `serial:/dev/ttyACM0`, …. With an invalid name, managers are `.unsupported`, and the log states the cause.
    ///
    /// `virtual` is a controller in this process. The program must link the product `VirtualRadio` or
    /// `CoreBluetoothTesting`; it needs no `import`.
    public init(_ name: String) {
        way = .named(name)
    }

    /// Creates a transport to a controller in this process, such as one returned by `VirtualRadio.addController`.
    public init(_ port: some PacketPort) {
        way = .port(port)
    }
}

extension BluetoothTransport {
    /// Whether the controller is one of this machine.
    var isOfThisMachine: Bool {
        switch way {
        case .named(let name): (try? TransportName(name))?.isOfThisMachine ?? false
        case .port: false
        }
    }
}

extension URL {
    fileprivate static var stateDirectory: URL {
        // If none of the variables is set, the home directory is the one in the system's user database.
        StateDirectory.path().map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.homeDirectoryForCurrentUser
            .appendingPathComponent(".local/state/swift-bluetooth-le", isDirectory: true)
    }
}
