import CoreBluetooth
import Foundation

/// The firmware of a `VirtualPeripheral`: it answers requests and receives events. Every method is optional.
///
/// Calls come one at a time, in the order of the events, on any thread. The peripheral does nothing else during a call.
public protocol VirtualPeripheralDelegate: AnyObject {
    /// A central reads a value that the peripheral does not store. Throw a `CBATTError` to reject the request, which is
    /// the default.
    func peripheral(_ peripheral: VirtualPeripheral, valueOf characteristic: CBUUID) throws -> Data
    /// A central reads a descriptor that the peripheral does not store. Throw a `CBATTError` to reject the request,
    /// which is the default.
    func peripheral(
        _ peripheral: VirtualPeripheral, valueOf descriptor: CBUUID, of characteristic: CBUUID
    ) throws -> Data
    /// A central has written a value. A long value is complete. Throw a `CBATTError` to reject a value that the
    /// peripheral does not store; a stored value has already been accepted.
    func peripheral(_ peripheral: VirtualPeripheral, didReceive value: Data, for characteristic: CBUUID) throws
    /// A central has written a descriptor, in the same way.
    func peripheral(
        _ peripheral: VirtualPeripheral, didReceive value: Data, for descriptor: CBUUID, of characteristic: CBUUID
    ) throws
    /// A central has subscribed or unsubscribed.
    func peripheral(_ peripheral: VirtualPeripheral, isSubscribed: Bool, to characteristic: CBUUID)
}

extension VirtualPeripheralDelegate {
    /// Rejects the read with `CBATTError.readNotPermitted`.
    public func peripheral(_ peripheral: VirtualPeripheral, valueOf characteristic: CBUUID) throws -> Data {
        throw CBATTError(.readNotPermitted)
    }

    /// Rejects the read with `CBATTError.readNotPermitted`.
    public func peripheral(
        _ peripheral: VirtualPeripheral, valueOf descriptor: CBUUID, of characteristic: CBUUID
    ) throws -> Data {
        throw CBATTError(.readNotPermitted)
    }

    /// Accepts the value.
    public func peripheral(_ peripheral: VirtualPeripheral, didReceive value: Data, for characteristic: CBUUID) throws {
    }

    /// Accepts the value.
    public func peripheral(
        _ peripheral: VirtualPeripheral, didReceive value: Data, for descriptor: CBUUID, of characteristic: CBUUID
    ) throws {
    }

    /// Ignores the change of the subscription.
    public func peripheral(_ peripheral: VirtualPeripheral, isSubscribed: Bool, to characteristic: CBUUID) {}
}
