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

    @Test("If the services of all users do not fit into one advertisement, the last ones are left out")
    func tooManyServices() {
        var scene = SharedScene(users: first, second)
        var one = AdvertisementData(), two = AdvertisementData()
        one.serviceUUIDs = ["01010101-0101-0101-0101-010101010101"]
        two.serviceUUIDs = ["02020202-0202-0202-0202-020202020202", "03030303-0303-0303-0303-030303030303"]
        scene.perform(.advertise(AdvertisingRequest(one)), 1, of: first)
        scene.perform(.advertise(AdvertisingRequest(two)), 2, of: second)
        #expect(scene.take(first) == ["1 done"])
        #expect(scene.take(second) == ["2 done"])
        // The length, the flags, an incomplete list of services, and zeros up to 31 octets.
        let data = bytes("15 020106 1106") + [UInt8](repeating: 1, count: 16) + [UInt8](repeating: 0, count: 10)
        let response = bytes("12 1106") + [UInt8](repeating: 2, count: 16) + [UInt8](repeating: 0, count: 13)
        #expect(scene.parameters[.leSetAdvertisingData] == data)
        #expect(scene.parameters[.leSetScanResponseData] == response)
    }
}
