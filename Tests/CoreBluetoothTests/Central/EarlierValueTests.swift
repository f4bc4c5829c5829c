import BluetoothHost
import BluetoothLE
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("Values of earlier subscriptions", .timeLimit(.minutes(30)))
struct EarlierValueTests {
    @Test("Values that arrive before the subscription request is sent are not delivered")
    func earlierValues() async throws {
        let scene = try await CentralScene(time: .manual)
        let (peripheral, characteristics) = try await scene.discovered()
        let notified = try #require(characteristics[CentralScene.notified])
        let local = try scene.local(CentralScene.notified)
        // The peripheral still follows what somebody has written before.
        let link = try #require(peripheral.session?.link)
        let descriptor = AttributeHandle(notified.handle.rawValue + 1)
        link.attachment.post(.write(link.identifier, descriptor, [1, 0]))
        await scene.stage.passing { await until("it is configured") { !local.subscribers.isEmpty } }
        let subscriber = try #require(local.subscribers.first)
        // It arrives before the answer to the search for the descriptor.
        try await subscriber.notify([1])
        peripheral.setNotifyValue(true, for: notified)
        await scene.stage.passing { await scene.recorder.expect("notifying F003 true -") }
        try await subscriber.notify([2])
        await scene.stage.passing { await scene.recorder.expect("value F003 02 -") }
    }
}
