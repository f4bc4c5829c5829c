import Testing
@testable import GatewayESPHome

/// Scan modes that several clients request.
@Suite struct ScanRequestTests {
    @Test("A client that disconnects withdraws only its own request")
    func leaving() async {
        let radio = FakeRadio()
        let first = await FakeClient(radio, number: 1), second = await FakeClient(radio, number: 2)
        for client in [first, second] { client.tell(.scannerSetMode, [8, 0]) }
        await first.session.end()
        #expect(!radio.scanning.isActive)
        // It is no longer connected.
        first.tell(.scannerSetMode, [8, 1])
        #expect(!radio.scanning.isActive)
        await second.session.end()
        #expect(radio.scanning.isActive)
    }
}
