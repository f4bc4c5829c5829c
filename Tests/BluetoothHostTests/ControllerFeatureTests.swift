import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import TestSupport
import Testing

@Suite("Errors about missing features")
struct ControllerFeatureTests {
    @Test("each error names its feature", arguments: ControllerFeature.allCases)
    func names(_ feature: ControllerFeature) {
        let text = "\(HostError.unsupported(feature))"
        #expect(!text.hasSuffix("support this"))
        #expect(ControllerFeature.allCases.filter { $0.description == text } == [feature])
    }

    /// The PHYs that a set needs, the LE features of a controller, and the feature that it lacks.
    static let missing: [(ExtendedAdvertising, features: [UInt8], ControllerFeature)] = [
        (.init(secondaryPHY: .le2M), [0x08, 0x10, 0, 0, 0, 0, 0, 0], .le2M),
        (.init(primaryPHY: .leCoded, secondaryPHY: .leCoded), [0x08, 0x11, 0, 0, 0, 0, 0, 0], .leCoded),
        (.init(primaryPHY: .leCoded, secondaryPHY: .le2M), [0x08, 0x10, 0, 0, 0, 0, 0, 0], .leCoded),
    ]

    @Test("the error names the PHY that a controller lacks", arguments: missing)
    func phy(_ extended: ExtendedAdvertising, _ features: [UInt8], _ feature: ControllerFeature) throws {
        var controller = ScriptedController.extended(features: features)
        #expect(throws: HostError.unsupported(feature)) {
            try controller.host.startAdvertising(
                AdvertisingParameters(isConnectable: false, data: [2, 1, 6], extended: extended), at: controller.now)
        }
    }
}
