import BluetoothBase
import BluetoothCrypto
import BluetoothGAP
import BluetoothValues
import GatewayPipeline

let sensor = DeviceAddress(0xA4C1_3811_2233, kind: .public)
let epoch = WallTime(milliseconds: 1_700_000_000_000)

extension Instant {
    static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }
}

/// Service data of BTHome in the clear: objects behind the octet 40.
func bthome(_ objects: String) -> [UInt8] { serviceData("40" + objects) }

func serviceData(_ digits: String) -> [UInt8] {
    let data = [UInt8](hexadecimal: digits) ?? []
    return [UInt8(data.count + 3), 0x16, 0xD2, 0xFC] + data
}

/// Packets of beacons, which only identify themselves.
enum Beacon {
    static let iBeacon = [UInt8](hexadecimal: "1AFF4C000215FB0B57A2822844CD913A94A122BA120600010002D1") ?? []
    static let eddystoneUID = [UInt8](hexadecimal: "1716AAFE00E80102030405060708090A0102030405060000") ?? []
    static let eddystoneURL = [UInt8](hexadecimal: "0E16AAFE10EE036578616D706C6500") ?? []
    static let exposureNotification = [UInt8](hexadecimal: "17166FFD0102030405060708090A0B0C0D0E0F10AABBCCDD") ?? []
}

/// A packet of Eddystone TLM, which has measurements.
let eddystoneTLM = [UInt8](hexadecimal: "1116AAFE20000BB81A8000000001000000FF") ?? []

extension Reception {
    init(
        _ data: [UInt8], from address: DeviceAddress = sensor, rssi: Int8? = -60, adapter: String = "hci0",
        response: [UInt8] = [], at seconds: Double
    ) {
        self.init(
            adapter: adapter, address: address, rssi: rssi, advertisingData: data, scanResponseData: response,
            instant: .at(seconds))
    }
}

extension Pipeline {
    /// Feeds packets to a pipeline, and lists what it says.
    mutating func texts(_ reception: Reception) -> [String] { receive(reception, at: epoch).map(\.text) }
    mutating func texts(at seconds: Double) -> [String] { advance(to: .at(seconds), at: epoch).map(\.text) }
}

extension Report {
    /// What the tests compare: the reason, the signal, the values.
    var text: String {
        let values = fields.map { field in
            switch field.value {
            case .number(let number): "\(field.name)=\(number)"
            case .flag(let flag): "\(field.name)=\(flag)"
            case .text(let text): "\(field.name)=\(text)"
            }
        }
        return "\(reason) \(rssi.map { "\($0)" } ?? "-")@\(adapter) " + values.joined(separator: " ")
    }
}
