import BluetoothATT
import BluetoothBase
import Testing

@testable import BluetoothGATT

@Suite("What is left of the handles that are discovered")
struct HandleCursorTests {
    @Test("A group that ends behind what was asked for is an error, and nothing is skipped for it")
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
