/// The state of Bluetooth. The order matters. Below `poweredOn`, scans, advertising and connections end; below
/// `poweredOff`, all objects are invalid.
public enum CBManagerState: Int, Sendable {
    /// The state is not known yet. A callback follows.
    case unknown = 0
    /// The adapter is being reset, or was unplugged. The manager waits for it.
    case resetting = 1
    /// There is no adapter, or it does not support Bluetooth Low Energy.
    case unsupported = 2
    /// This program may not use the adapter. The log states how to change that.
    case unauthorized = 3
    /// The adapter is switched off.
    case poweredOff = 4
    /// The adapter is on.
    case poweredOn = 5
}

/// Whether this program may use Bluetooth.
public enum CBManagerAuthorization: Int, Sendable {
    /// The user has not been asked yet. Not used here.
    case notDetermined = 0
    /// The permission cannot be granted. Not used here.
    case restricted = 1
    /// The process lacks the capability.
    case denied = 2
    case allowedAlways = 3
}

/// The same as `CBManagerState`.
@available(*, deprecated, message: "use CBManagerState")
public enum CBCentralManagerState: Int, Sendable {
    case unknown = 0
    case resetting = 1
    case unsupported = 2
    case unauthorized = 3
    case poweredOff = 4
    case poweredOn = 5
}

/// The same as `CBManagerState`.
@available(*, deprecated, message: "use CBManagerState")
public enum CBPeripheralManagerState: Int, Sendable {
    case unknown = 0
    case resetting = 1
    case unsupported = 2
    case unauthorized = 3
    case poweredOff = 4
    case poweredOn = 5
}

/// The same as `CBManagerAuthorization`.
@available(*, deprecated, message: "use CBManagerAuthorization")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    case authorized = 3
}

extension CBManagerState {
    /// Whether earlier objects are invalid.
    var isBelowPoweredOff: Bool { rawValue < CBManagerState.poweredOff.rawValue }
}
