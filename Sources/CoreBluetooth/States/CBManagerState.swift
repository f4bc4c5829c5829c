/// What can be done with the system's Bluetooth. The order counts: below `poweredOn` nothing is scanned for, advertised or
/// connected; below `poweredOff` what there was is forgotten.
public enum CBManagerState: Int, Sendable {
    /// Not known yet: the next callback tells.
    case unknown = 0
    /// The adapter is being reset, or was unplugged; it is waited for.
    case resetting = 1
    /// There is no adapter, or it has no Bluetooth Low Energy.
    case unsupported = 2
    /// This program may not use the adapter. The log has the cure.
    case unauthorized = 3
    /// The adapter is switched off.
    case poweredOff = 4
    /// All is well.
    case poweredOn = 5
}

/// Whether this program may use Bluetooth.
public enum CBManagerAuthorization: Int, Sendable {
    /// Nobody has been asked yet. Not used here.
    case notDetermined = 0
    /// It cannot be allowed. Not used here.
    case restricted = 1
    /// It lacks the capability.
    case denied = 2
    case allowedAlways = 3
}

/// As `CBManagerState`.
@available(*, deprecated, message: "use CBManagerState")
public enum CBCentralManagerState: Int, Sendable {
    case unknown = 0
    case resetting = 1
    case unsupported = 2
    case unauthorized = 3
    case poweredOff = 4
    case poweredOn = 5
}

/// As `CBManagerState`.
@available(*, deprecated, message: "use CBManagerState")
public enum CBPeripheralManagerState: Int, Sendable {
    case unknown = 0
    case resetting = 1
    case unsupported = 2
    case unauthorized = 3
    case poweredOff = 4
    case poweredOn = 5
}

/// As `CBManagerAuthorization`.
@available(*, deprecated, message: "use CBManagerAuthorization")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    case authorized = 3
}

extension CBManagerState {
    /// Whether what was done before is forgotten.
    var isBelowPoweredOff: Bool { rawValue < CBManagerState.poweredOff.rawValue }
}
