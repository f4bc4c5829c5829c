import CoreBluetooth
import CoreBluetoothTesting
import Testing

@Suite("The adapter of the app under test", .timeLimit(.minutes(30)))
struct AdapterTests {
    private let air = TestRadio()

    @Test("An app started while the adapter is off or access is denied sees that state")
    func offAtFirst() async {
        await air.simulatePowerOff()
        let app = air.app { Explorer() }
        #expect(await app.next() == "poweredOff")
        await air.simulateAuthorization(.denied)
        #expect(await app.next() == "unauthorized")
        // It is still forbidden.
        await air.simulatePowerOn()
        let other = air.app { Explorer() }
        #expect(await other.next() == "unauthorized")
        await air.simulateAuthorization(.allowedAlways)
        #expect(await app.next() == "poweredOn")
        #expect(await other.next() == "poweredOn")
    }

    @Test("An adapter switched off while access was denied is still off when access is granted")
    func offMeanwhile() async {
        let app = air.app { Explorer() }
        #expect(await app.next() == "poweredOn")
        await air.simulateAuthorization(.restricted)
        #expect(await app.next() == "unauthorized")
        #expect(air.app { CBManager.authorization } == .restricted)
        await air.simulatePowerOff()
        await air.simulateAuthorization(.allowedAlways)
        #expect(await app.next() == "poweredOff")
        await air.simulatePowerOn()
        #expect(await app.next() == "poweredOn")
    }

    @Test("Switching the adapter off twice is reported once")
    func twice() async {
        let app = air.app { Explorer() }
        #expect(await app.next() == "poweredOn")
        await air.simulatePowerOff()
        await air.simulatePowerOff()
        await air.simulatePowerOn()
        await air.simulatePowerOn()
        await air.simulateAuthorization(.denied)
        #expect(await app.next() == "poweredOff")
        // It may have been on for a moment.
        var last = await app.next()
        if last == "poweredOn" { last = await app.next() }
        #expect(last == "unauthorized")
    }
}
