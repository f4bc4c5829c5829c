import CoreBluetooth
import Testing

@Suite("Raw values of states and options")
struct NumberTests {
    /// The numbers of the cases, which are counted from 0 on.
    private func check<State: RawRepresentable & Equatable>(_ states: [State]) where State.RawValue == Int {
        #expect(states.map(\.rawValue) == Array(0..<states.count))
        for state in states { #expect(State(rawValue: state.rawValue) == state) }
    }

    @Test("States have the same raw values as on Apple's systems")
    func states() {
        check([CBManagerState.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn])
        check([CBManagerAuthorization.notDetermined, .restricted, .denied, .allowedAlways])
        check([CBPeripheralState.disconnected, .connecting, .connected, .disconnecting])
        check([CBPeripheralManagerConnectionLatency.low, .medium, .high])
        check([CBCharacteristicWriteType.withResponse, .withoutResponse])
        check([CBConnectionEvent.peerDisconnected, .peerConnected])
    }

    @available(*, deprecated, message: "what it checks is")
    @Test("Deprecated states have the raw values of their replacements")
    func deprecatedStates() {
        check([CBCentralManagerState.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn])
        check([CBPeripheralManagerState.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn])
        check([CBPeripheralManagerAuthorizationStatus.notDetermined, .restricted, .denied, .authorized])
    }

    @available(*, deprecated, message: "what it checks is")
    @Test("The misspelled error code equals the correctly spelled one")
    func misspelled() {
        let codes = [CBError.Code.unkownDevice, .unknownDevice, CBError.unkownDevice, CBError.unknownDevice]
        for code in codes {
            #expect(code.rawValue == 12 && code == CBError.Code(rawValue: 12) && CBError.unknownDevice ~= CBError(code))
        }
        #expect(Set(codes).count == 1)
    }

    @Test("Options are the same bits as on Apple's systems")
    func options() {
        let properties: [CBCharacteristicProperties] = [
            .broadcast, .read, .writeWithoutResponse, .write, .notify, .indicate, .authenticatedSignedWrites,
            .extendedProperties, .notifyEncryptionRequired, .indicateEncryptionRequired,
        ]
        #expect(properties.map(\.rawValue) == (0..<10).map { 1 << $0 })
        let permissions: [CBAttributePermissions] = [
            .readable, .writeable, .readEncryptionRequired, .writeEncryptionRequired,
        ]
        #expect(permissions.map(\.rawValue) == (0..<4).map { 1 << $0 })
        #expect(CBCentralManager.Feature.extendedScanAndConnect.rawValue == 1)
    }
}
