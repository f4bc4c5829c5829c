import BluetoothLE
import CoreBluetooth

/// How a test names services and characteristics: by text such as `"180D"`, or by the constants of the tested app. Text
/// that is not a UUID is a programming error.
public protocol CBUUIDConvertible {
    var cbuuid: CBUUID { get }
}

extension CBUUID: CBUUIDConvertible {
    public var cbuuid: CBUUID { self }
}

extension String: CBUUIDConvertible {
    public var cbuuid: CBUUID { CBUUID(string: self) }
}

extension CBUUIDConvertible {
    /// The UUID as a type of the stack.
    var bluetooth: BluetoothUUID { cbuuid.bluetoothUUID }
}
