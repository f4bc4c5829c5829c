import AdapterTestSupport
import BluetoothBase
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Connection parameters and signal strength", .timeLimit(.minutes(30)))
struct LinkParameterTests {
    static let wanted = ConnectionParameters(
        minimumInterval: .milliseconds(50), maximumInterval: .milliseconds(50), supervisionTimeout: .seconds(2))

    @Test("Either side can change the parameters, and both then see the new ones", arguments: [true, false])
    func updated(_ isCentral: Bool) async throws {
        let scene = try await Scene(time: .manual)
        let other = try #require(scene.peripheral.connections.first)
        let asking = isCentral ? scene.connection : other
        try await scene.radio.passing { try await asking.updateParameters(Self.wanted) }
        for connection in [scene.connection, other] {
            try await scene.radio.passing {
                await until { connection.parameters.interval == .milliseconds(50) }
            }
            #expect(connection.parameters.supervisionTimeout == .seconds(2))
        }
    }

    @Test("A central can refuse the parameters that its peripheral requests")
    func refused() async throws {
        var options = AdapterOptions(seed: 1)
        options.host.acceptableParameters = AcceptableConnectionParameters(intervals: 6...24)
        let scene = try await Scene(time: .manual, centralOptions: options)
        let other = try #require(scene.peripheral.connections.first)
        await #expect(throws: BluetoothError.refusedByPeer) {
            try await scene.radio.passing { try await other.updateParameters(Self.wanted) }
        }
        #expect(try await scene.works())
    }

    @Test("Parameters outside the specification are rejected without asking the peer")
    func invalid() async throws {
        let scene = try await Scene()
        var bad = Self.wanted
        bad.latency = 500
        await #expect(throws: BluetoothError.invalidParameters) {
            try await scene.connection.updateParameters(bad)
        }
    }

    @Test("LE 2M is used if both sides support it, and either side can request another PHY", arguments: [true, false])
    func phy(_ isCentral: Bool) async throws {
        let scene = try await Scene(time: .manual)
        let other = try #require(scene.peripheral.connections.first)
        let fast = LinkPHYs(transmit: .le2M, receive: .le2M)
        for connection in [scene.connection, other] {
            try await scene.radio.passing { await until { connection.phy == fast } }
        }
        let asking = isCentral ? scene.connection : other
        try await scene.radio.passing { try await asking.setPreferredPHY(.le1M) }
        for connection in [scene.connection, other] {
            try await scene.radio.passing { await until { connection.phy == LinkPHYs() } }
        }
        await #expect(throws: BluetoothError.invalidParameters) {
            try await scene.radio.passing { try await asking.setPreferredPHY([]) }
        }
    }

    @Test("Signal strength follows the path loss", arguments: [30, 50, 90])
    func rssi(_ pathLoss: Int) async throws {
        let scene = try await Scene()
        scene.radio.setPathLoss(between: scene.centralPort, and: scene.peripheralPort, to: pathLoss)
        #expect(try await scene.connection.rssi() == -pathLoss)
    }

    @Test("A peer that goes out of range is noticed on an idle link")
    func outOfRange() async throws {
        var options = AdapterOptions(seed: 1)
        options.host.connectionParameters = ConnectionParameters(
            minimumInterval: .milliseconds(7.5), maximumInterval: .milliseconds(7.5),
            supervisionTimeout: .milliseconds(100))
        // The system's time: both threads sleep when the path is cut, without a deadline.
        let scene = try await Scene(centralOptions: options)
        scene.peripheral.stopAdvertising()
        let other = try #require(scene.peripheral.connections.first)
        scene.radio.setPathLoss(between: scene.centralPort, and: scene.peripheralPort, to: 200)
        #expect(try await scene.connection.waitForDisconnection() == .supervisionTimeout)
        #expect(try await other.waitForDisconnection() == .supervisionTimeout)
    }
}
