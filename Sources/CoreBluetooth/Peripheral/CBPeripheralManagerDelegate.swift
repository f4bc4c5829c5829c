import Foundation

/// The callbacks of a peripheral manager. All but the first are optional.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    /// `CBManager.state` has changed. Called for the first time once the state is known.
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)
    /// The state of the last run is being restored. Called before every other method.
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])
    /// Advertising has started, or failed to start.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
    /// A service was published, or could not be published.
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)
    /// A central has subscribed to a value.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic)
    /// A central has unsubscribed, or its link has ended.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic)
    /// A central requests to read a value. Answer with `CBPeripheralManager.respond`.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)
    /// A central requests to write values, all or none. Answer the first request with `CBPeripheralManager.respond`.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])
    /// Updates can be sent again.
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)
    /// An L2CAP channel was published, or could not be published.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?)
    /// An L2CAP channel was withdrawn, or could not be withdrawn.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?)
    /// An L2CAP channel was opened, or could not be opened.
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

extension CBPeripheralManagerDelegate {
    /// Ignores the restored state. The manager publishes the restored services and resumes advertising regardless.
    public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {}
    /// Ignores the result. `CBPeripheralManager.isAdvertising` is true if advertising has started.
    public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}
    /// Ignores the result, including an error.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {}
    /// Does nothing. `CBMutableCharacteristic.subscribedCentrals` already contains the central.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {}
    /// Does nothing. `CBMutableCharacteristic.subscribedCentrals` no longer contains the central.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {}
    /// Rejects the request, since a delegate without this method cannot answer it.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        peripheral.respond(to: request, withResult: .requestNotSupported)
    }
    /// Rejects the request, since a delegate without this method cannot answer it.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        if let first = requests.first { peripheral.respond(to: first, withResult: .requestNotSupported) }
    }
    /// Does nothing. Updates for which `updateValue` returned false are not retried automatically.
    public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}
    /// Ignores the result. The application then does not learn the PSM that the system chose.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
    ) {}
    /// Ignores the result, including an error.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
    ) {}
    /// Does nothing, so the channel is released and thereby closed.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
    ) {}
}
