import Foundation

/// The callbacks of a central manager. All but the first are optional.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// `CBManager.state` has changed. Called for the first time once the state is known.
    func centralManagerDidUpdateState(_ central: CBCentralManager)
    /// The state of the last run is being restored. Called before every other method.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])
    /// A peripheral was discovered. The application must hold it to use it later.
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber)
    /// A connection was established.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)
    /// A connection could not be established.
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)
    /// A connection has ended. The error is nil if the application cancelled the connection.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)
    /// A connection has ended. If this method is implemented, the one without a timestamp is not called.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?)
    /// A link that matches `registerForConnectionEvents` was made or has ended.
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)
    /// Never called here.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

extension CBCentralManagerDelegate {
    /// Ignores the restored state. The restored peripherals are then released, and their connections are not resumed.
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}
    /// Ignores the discovery. Implement this method to find peripherals with a scan.
    public func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {}
    /// Does nothing. `CBPeripheral.state` is `.connected` when this is called.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}
    /// Ignores the error. `CBPeripheral.state` is `.disconnected` when this is called.
    public func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {}
    /// Does nothing. The method with a timestamp calls this one, unless the delegate implements it.
    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {}
    /// Calls `centralManager(_:didDisconnectPeripheral:error:)`, which does not report the timestamp or whether the
    /// manager is reconnecting.
    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }
    /// Ignores the event.
    public func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {}
    /// Does nothing. Never called here.
    public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}
