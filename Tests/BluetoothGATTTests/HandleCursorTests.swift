import BluetoothATT
import BluetoothBase
import Testing

@testable import BluetoothGATT

@Suite("GATT client: the handles left to discover")
struct HandleCursorTests {
    @Test("A group that ends beyond the requested range is an error, and no handles are skipped")
    func endsBehind() throws {
        var cursor = HandleCursor(0x0010...0x0020)
        #expect(throws: GATTClientError.invalidResponse(.unexpectedHandle(0x0021))) {
            try cursor.move(past: 0x0011, through: 0x0021)
        }
        #expect(cursor.startingHandle == 0x0010)
        try cursor.move(past: 0x0011, through: 0x0020)
        #expect(cursor.isExhausted)
    }
}
