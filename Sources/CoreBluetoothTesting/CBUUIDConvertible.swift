import BluetoothLE
import CoreBluetooth

/// How a test names services and characteristics: by a text such as `"180D"`, or by the constants of the app it tests. A
/// text that is no UUID is a programming error.
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
    /// The UUID in the stack's words.
    var bluetooth: BluetoothUUID { cbuuid.bluetoothUUID }
}
