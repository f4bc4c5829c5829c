import CoreBluetooth
import CoreBluetoothTesting
import Testing

@Suite(.timeLimit(.minutes(30)), .radioCapture)
struct WeatherTests {
    /// What an app is told while a sensor sends a value each second for ten minutes.
    private func lines(weather seed: UInt64?) async throws -> [String] {
        let air = TestRadio(time: .manual)
        let sensor = VirtualPeripheral(
            name: "Sensor", services: [VirtualService("180D", characteristics: [.init("2A37", .notify)])])
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of 2A37 -") }
        if let seed { air.weather(seed: seed) }
        await air.pass(.seconds(300))
        air.clearWeather()
        if app.has("connected"), app.lines.contains(where: { $0.hasPrefix("lost") }) {
            // The air is clear again: the app finds the sensor.
            app.connect(try #require(app.peripheral))
            try await air.wait { app.peripheral?.state == .connected }
        }
        return app.lines
    }

    @Test func `weather drops links, the same seed drops the same ones, and clear air is as before`() async throws {
        #expect(try await !lines(weather: nil).contains("lost CB 6"))
        let first = try await lines(weather: 3)
        #expect(first.contains("lost CB 6"))
        #expect(try await lines(weather: 3) == first)
    }
}
