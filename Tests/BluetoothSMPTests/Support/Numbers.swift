import BluetoothBase
import BluetoothSMP

extension FieldElement {
    /// Reads 64 hexadecimal digits. Traps on a typing error, which is a mistake in the test.
    init(_ text: String) {
        guard text.count == 64, let high = UInt128(text.prefix(32), radix: 16),
            let low = UInt128(text.suffix(32), radix: 16)
        else { fatalError("not 64 hexadecimal digits: \(text)") }
        self.init(high: high, low: low)
    }
}

extension SecurityManagerPDU {
    /// The PDU as it goes over the air.
    var octets: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}
