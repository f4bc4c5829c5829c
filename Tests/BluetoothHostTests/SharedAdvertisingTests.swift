import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("One advertisement for several users")
struct SharedAdvertisingTests {
    private let first = UserID(number: 1), second = UserID(number: 2)

    @Test("If the controller refuses the new advertisement and then the previous one, the host stops retrying")
    func refusedTwice() {
        var scene = SharedScene(users: first, second)
        scene.perform(.advertise(AdvertisingRequest(AdvertisementData())), 1, of: first)
        #expect(scene.take(first) == ["1 done"])
        scene.answers[.leSetAdvertisingParameters] = .silence
        var named = AdvertisementData()
        named.localName = .complete("Second")
        scene.perform(.advertise(AdvertisingRequest(named)), 2, of: second)
        for isLast in [false, true] {
            #expect(scene.takeCommands().contains(.leSetAdvertisingParameters))
            scene.receive(
                CommandComplete(
                    opcode: .leSetAdvertisingParameters,
                    returnParameters: [HCIStatus.invalidCommandParameters.rawValue].span))
            #expect(scene.host.advertisements.count == (isLast ? 0 : 1))
        }
        #expect(!scene.takeCommands().contains(.leSetAdvertisingParameters))
        let error = HostError.controller(.invalidCommandParameters)
        #expect(scene.take(second) == ["2 failed: \(error)"])
        #expect(scene.take(first) == [])
    }
}
