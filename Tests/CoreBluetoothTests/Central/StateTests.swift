import BluetoothLE
import HCITransport
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("A: the state of an adapter that cannot be used", .timeLimit(.minutes(30)))
struct StateTests {
    @Test(
        "Row 9: each reason that an adapter cannot be opened has its state",
        arguments: [
            (.notPermitted(executable: nil), .unauthorized), (.adapterBlocked(.software), .poweredOff),
            (.adapterHeld(by: nil), .resetting), (.adapterInitializing, .resetting), (.adapterRemoved, .resetting),
            (.noSuchAdapter(present: []), .unsupported), (.bluetoothUnavailable, .unsupported),
            (.connectionRefused, .unsupported),
        ] as [(TransportError.Reason, CBManagerState)])
    func reasons(reason: TransportError.Reason, state: CBManagerState) {
        #expect(
            CBManagerState(whereOpeningFailed: .transport(TransportError(reason, transport: "hci-socket"))) == state)
    }

    @Test("Row 9: an adapter without Low Energy is unsupported; one that sends malformed packets is resetting")
    func controllers() {
        #expect(CBManagerState(whereOpeningFailed: .adapter(.lowEnergyNotSupported)) == .unsupported)
        #expect(CBManagerState(whereOpeningFailed: .adapter(.malformedPacket)) == .resetting)
    }

    @Test("Row 6: the states unknown, resetting, unsupported and unauthorized are below poweredOff")
    func order() {
        let below: [CBManagerState] = [.unknown, .resetting, .unsupported, .unauthorized]
        #expect(below.allSatisfy { $0.isBelowPoweredOff })
        #expect(!CBManagerState.poweredOff.isBelowPoweredOff && !CBManagerState.poweredOn.isBelowPoweredOff)
    }

    @Test("Row 9: an unknown transport name is logged")
    func unknownTransport() async throws {
        let log = Log()
        let events = CentralRecorder(Recorder())
        let manager = BluetoothEnvironment.with(transport: BluetoothTransport("carrier pigeon")) {
            CBCentralManager(delegate: events, queue: events.recorder.queue)
        }
        await events.recorder.expect("state unsupported")
        #expect(log.contains("carrier pigeon"))
        withExtendedLifetime(manager) {}
    }

    @Test("The transport virtual is a controller of the shared radio, which this program links")
    func virtualTransport() async throws {
        let events = CentralRecorder(Recorder())
        let manager = BluetoothEnvironment.with(transport: BluetoothTransport("virtual"), stateDirectory: nil) {
            CBCentralManager(delegate: events, queue: events.recorder.queue)
        }
        await events.recorder.expect("state poweredOn")
        withExtendedLifetime(manager) {}
    }

    @Test("Row 18: an RSSI that was not measured is 127")
    func unmeasured() {
        #expect(CBCentralManager.withRSSI(nil) { $0 } == 127)
        #expect(CBCentralManager.withRSSI(-40) { $0 } == -40)
    }
}
