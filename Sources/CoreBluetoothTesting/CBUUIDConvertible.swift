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
    var bluetooth: BluetoothUUID {
        let octets = [UInt8](cbuuid.data)
        func number(_ range: Range<Int>) -> UInt64 { octets[range].reduce(0) { $0 << 8 | UInt64($1) } }
        guard octets.count == 16 else { return BluetoothUUID(uint32: UInt32(number(0..<octets.count))) }
        return BluetoothUUID(high: number(0..<8), low: number(8..<16))
    }
}
