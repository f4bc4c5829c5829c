import AdapterTestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Power and path loss", .timeLimit(.minutes(30)))
struct PowerTests {
    @Test("Each side can read its own transmit power and the peer's", arguments: [true, false])
    func read(_ isCentral: Bool) async throws {
        let scene = try await Scene(time: .manual) {
            $0.features.formUnion(.power)
            $0.transmitPower = 8
        }
        let other = try #require(scene.peripheral.connections.first)
        let (asking, port) = isCentral ? (scene.connection, scene.peripheralPort) : (other, scene.centralPort)
        scene.radio.setTransmitPower(of: port, to: -4)
        let powers = try await scene.radio.passing {
            [try await asking.readTransmitPower(), try await asking.readRemoteTransmitPower()]
        }
        #expect(powers[0] == LinkTransmitPower(level: 8, maximum: 8, isMaximum: true))
        #expect(powers[1] == LinkTransmitPower(level: -4))
    }

    @Test("Power changes of either side are reported while a sequence exists")
    func changes() async throws {
        let scene = try await Scene(time: .manual) { $0.features.formUnion(.power) }
        try await scene.radio.passing {
            var changes = try await scene.connection.transmitPowerChanges().makeAsyncIterator()
            scene.radio.setTransmitPower(of: scene.peripheralPort, to: -6)
            let remote = TransmitPowerChange(side: .remote, power: LinkTransmitPower(level: -6), delta: -6)
            #expect(try await changes.next() == remote)
            scene.radio.setTransmitPower(of: scene.centralPort, to: -1)
            let local = TransmitPowerChange(side: .local, power: LinkTransmitPower(level: -1), delta: -1)
            #expect(try await changes.next() == local)
        }
        // The sequence is gone, so that there can be another.
        try await scene.radio.passing {
            _ = try await scene.connection.transmitPowerChanges(local: false)
            #expect(try await scene.connection.rssi() == -56)
        }
    }

    @Test("Path loss reports begin with the current zone, follow its changes, and allow one sequence at a time")
    func pathLoss() async throws {
        let scene = try await Scene(time: .manual) { $0.features.formUnion(.power) }
        let thresholds = PathLossThresholds(low: 40, high: 70)
        try await scene.radio.passing {
            let reports = try await scene.connection.pathLossReports(thresholds: thresholds)
            var iterator = reports.makeAsyncIterator()
            #expect(try await iterator.next() == PathLossReport(loss: 50, zone: .middle))
            scene.radio.setPathLoss(between: scene.centralPort, and: scene.peripheralPort, to: 80)
            #expect(try await iterator.next() == PathLossReport(loss: 80, zone: .high))
            await #expect(throws: BluetoothError.tooManyPending) {
                _ = try await scene.connection.pathLossReports(thresholds: thresholds)
            }
            await #expect(throws: BluetoothError.invalidParameters) {
                _ = try await scene.connection.pathLossReports(thresholds: PathLossThresholds(low: 70, high: 40))
            }
            try await scene.connection.disconnect()
            await #expect(throws: BluetoothError.disconnected(.byThisDevice)) { _ = try await iterator.next() }
        }
    }

    @Test("Releasing the link ends its reports without an error")
    func released() async throws {
        let scene = try await Scene(time: .manual) { $0.features.formUnion(.power) }
        try await scene.radio.passing {
            let other = try #require(scene.peripheral.connections.first)
            var changes = try await other.transmitPowerChanges().makeAsyncIterator()
            var reports = try await other.pathLossReports(thresholds: PathLossThresholds(low: 40, high: 70))
                .makeAsyncIterator()
            #expect(try await reports.next()?.zone == .middle)
            other.release()
            #expect(try await reports.next() == nil)
            #expect(try await changes.next() == nil)
        }
    }

    @Test("Power calls fail with notSupported if the controller lacks power control")
    func unsupported() async throws {
        let without = try await Scene(time: .manual)
        let error = BluetoothError.notSupported(.powerControl)
        await #expect(throws: error) { _ = try await without.connection.readTransmitPower() }
        await #expect(throws: error) { _ = try await without.connection.readRemoteTransmitPower() }
        await #expect(throws: error) { _ = try await without.connection.transmitPowerChanges() }
        await #expect(throws: error) {
            _ = try await without.connection.pathLossReports(thresholds: PathLossThresholds(low: 40, high: 70))
        }
    }
}
