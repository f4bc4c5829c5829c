import BluetoothAdapter
import BluetoothHCI
import Foundation
import HCITransport
import Logging
import Synchronization

/// Which controller the managers of this process use, and where they keep their state. On Apple's platforms the system
/// decides both.
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
    @TaskLocal private static var pairingOfTask: BluetoothPairing?
    @TaskLocal private static var loggerOfTask: Logger?
    /// What managers in a simulated world use in place of all this.
    @TaskLocal static var virtual: VirtualEnvironment?

    /// The controller: what `BLUETOOTH_TRANSPORT` in the environment names, such as `hci-socket:1` or
    /// `tcp-client:127.0.0.1:6402`, else the first adapter of the machine.
    public static var transport: BluetoothTransport {
        get { transportOfTask ?? values.withLock { $0.transport } }
        set { values.withLock { $0.transport = newValue } }
    }

    /// Where restoration state, bonds and the key of peers' identifiers are kept: systemd's `STATE_DIRECTORY`, else
    /// `swift-bluetooth-le` in `XDG_STATE_HOME`, else in `~/.local/state`.
    ///
    /// Bonds that were made with a controller that is not one of this machine, such as a virtual one, are kept for as long as
    /// the adapter is open, unless this has been set.
    public static var stateDirectory: URL {
        get { chosenStateDirectory ?? defaultStateDirectory }
        set { values.withLock { $0.stateDirectory = newValue } }
    }

    /// The directory that the program has set; nil for the default.
    static var chosenStateDirectory: URL? { stateDirectoryOfTask ?? values.withLock { $0.stateDirectory } }

    private static let defaultStateDirectory = URL.stateDirectory

    /// Whether applications see the services that the system hides on Apple's platforms: Generic Access, Generic
    /// Attribute, Human Interface Device and Apple Notification Center Service. False by default. It applies to later
    /// discoveries.
    public static var showsSystemServices: Bool {
        get { values.withLock { $0.showsSystemServices } }
        set { values.withLock { $0.showsSystemServices = newValue } }
    }

    /// Who answers for the person when a peer pairs with this process. By default pairing protects against listeners only,
    /// and peers may pair while an application publishes something that needs encryption. It is read when the first manager
    /// on a transport is created.
    public static var pairing: BluetoothPairing {
        get { pairingOfTask ?? values.withLock { $0.pairing } }
        set { values.withLock { $0.pairing = newValue } }
    }

    /// Where misuse of the API is reported. Apple's framework reports it on the console. Standard error by default.
    public static var logger: Logger {
        get { loggerOfTask ?? values.withLock { $0.logger } }
        set { values.withLock { $0.logger = newValue } }
    }

    /// Runs `body` with another log: a simulated world says what is wrong in its own way.
    package static func with<Value>(logger: Logger, _ body: () throws -> Value) rethrows -> Value {
        try $loggerOfTask.withValue(logger, operation: body)
    }

    /// Makes the managers that `body` creates use a different controller from the rest of the process: for parallel
    /// tests, and for tests in which two managers talk over a radio.
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

/// A way to a controller.
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

    /// A controller by the name of its transport: `hci-socket:0`, `hci-socket:00:1A:7D:DA:71:13`, `virtual`,
    /// `serial:/dev/ttyACM0`, …; with an invalid name the managers are `.unsupported`, and the log says why.
    public init(_ name: String) {
        way = .named(name)
    }

    /// A controller in this process, such as `VirtualRadio.addController` returns.
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
        // Without any of the variables, the user's home is what the system has on file.
        StateDirectory.path().map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.homeDirectoryForCurrentUser
            .appendingPathComponent(".local/state/swift-bluetooth-le", isDirectory: true)
    }
}
