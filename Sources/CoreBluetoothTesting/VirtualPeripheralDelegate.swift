import CoreBluetooth
import Foundation

/// What a `VirtualPeripheral` is asked, and told: its firmware. Every method may be left out.
///
/// One call follows the other, in the order in which things happen, on no thread in particular. While one lasts the
/// peripheral does nothing else.
public protocol VirtualPeripheralDelegate: AnyObject {
    /// A central reads a value that the peripheral does not keep. To throw a `CBATTError` refuses; so does leaving this out.
    func peripheral(_ peripheral: VirtualPeripheral, valueOf characteristic: CBUUID) throws -> Data
    /// A central has written a value, of a long one all parts. To throw a `CBATTError` refuses one that the peripheral does
    /// not keep; one that it keeps has been taken already.
    func peripheral(_ peripheral: VirtualPeripheral, didReceive value: Data, for characteristic: CBUUID) throws
    /// A central has subscribed, or ended that.
    func peripheral(_ peripheral: VirtualPeripheral, isSubscribed: Bool, to characteristic: CBUUID)
}

extension VirtualPeripheralDelegate {
    public func peripheral(_ peripheral: VirtualPeripheral, valueOf characteristic: CBUUID) throws -> Data {
        throw CBATTError(.readNotPermitted)
    }

    public func peripheral(_ peripheral: VirtualPeripheral, didReceive value: Data, for characteristic: CBUUID) throws {
    }

    public func peripheral(_ peripheral: VirtualPeripheral, isSubscribed: Bool, to characteristic: CBUUID) {}
}
