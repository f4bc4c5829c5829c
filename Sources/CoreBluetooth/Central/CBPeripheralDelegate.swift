import Foundation

/// The callbacks of a peripheral. All are optional.
public protocol CBPeripheralDelegate: NSObjectProtocol {
    /// The peripheral's name has changed.
    func peripheralDidUpdateName(_ peripheral: CBPeripheral)
    /// The peripheral's services have changed. The given services are invalid and must be discovered again.
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService])
    /// Never called here; `peripheral(_:didReadRSSI:error:)` is called instead.
    @available(*, deprecated, message: "use peripheral(_:didReadRSSI:error:)")
    func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?)
    /// The RSSI of the peripheral was read, in dBm.
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?)
    /// Services were discovered.
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?)
    /// Included services were discovered.
    func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)
    /// Characteristics were discovered.
    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?)
    /// A value was read, notified or indicated.
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    /// A value was written, with a response.
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    /// A subscription has begun or ended; see `CBCharacteristic.isNotifying`.
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?)
    /// Descriptors were discovered.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?)
    /// A descriptor was read.
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?)
    /// A descriptor was written.
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?)
    /// The peripheral can accept writes without response again.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral)
    /// An L2CAP channel was opened, or could not be opened.
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

extension CBPeripheralDelegate {
    /// Does nothing. `CBPeripheral.name` holds the new name.
    public func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}
    /// Does nothing. `CBPeripheral.services` no longer contains the invalidated services.
    public func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {}
    /// Does nothing. Never called here.
    public func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?) {}
    /// Ignores the RSSI, which is 127 if it could not be read.
    public func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) {}
    /// Does nothing. `CBPeripheral.services` holds the services found, unless discovery has failed.
    public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {}
    /// Does nothing. `CBService.includedServices` holds the services found, unless discovery has failed.
    public func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {}
    /// Does nothing. `CBService.characteristics` holds the characteristics found, unless discovery has failed.
    public func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {}
    /// Does nothing. `CBCharacteristic.value` holds the new value, unless an error is reported.
    public func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {}
    /// Ignores the result of the write, including an error.
    public func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {}
    /// Does nothing. `CBCharacteristic.isNotifying` holds the current state.
    public func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {}
    /// Does nothing. `CBCharacteristic.descriptors` holds the descriptors found, unless discovery has failed.
    public func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {}
    /// Does nothing. `CBDescriptor.value` holds the value, unless reading has failed.
    public func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?)
    {}
    /// Ignores the result of the write, including an error.
    public func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
    }
    /// Does nothing. `CBPeripheral.canSendWriteWithoutResponse` also reports whether a write is possible.
    public func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {}
    /// Does nothing, so the channel is released and thereby closed.
    public func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {}
}
