import BluetoothLE
import CoreBluetooth

/// A name of a service or characteristic in a test: a string such as `"180D"`, or a constant of the tested app. A
/// string that is not a UUID is a programming error.
public protocol CBUUIDConvertible {
    var cbuuid: CBUUID { get }
}

extension CBUUID: CBUUIDConvertible {
    /// This UUID.
    public var cbuuid: CBUUID { self }
}

extension String: CBUUIDConvertible {
    /// The UUID that this string represents: 4 or 8 hexadecimal digits, or 32 in groups.
    public var cbuuid: CBUUID { CBUUID(string: self) }
}

extension CBUUIDConvertible {
    /// The UUID as a type of the stack.
    var bluetooth: BluetoothUUID { cbuuid.bluetoothUUID }
}
