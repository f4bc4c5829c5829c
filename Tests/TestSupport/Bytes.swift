import BluetoothBase

/// Reads a packet written in hexadecimal. Traps on a typing error, which is a mistake in the test.
public func bytes(_ text: String) -> [UInt8] {
    guard let bytes = [UInt8](hexadecimal: text) else { fatalError("not hexadecimal: \(text)") }
    return bytes
}

/// What `body` writes.
public func written(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    body(&writer)
    return writer.bytes
}
