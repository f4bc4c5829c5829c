import BluetoothLE
import GatewayPipeline

/// The result of a request.
enum RemoteAnswer: Equatable, Sendable {
    case done
    case connected(mtu: Int, adapter: String)
    case value([UInt8])
    case services([Service])
    case refused(RemoteRefusal)

    struct Service: Equatable, Sendable {
        var uuid: BluetoothUUID
        var characteristics: [(uuid: BluetoothUUID, properties: [String])]

        static func == (first: Self, second: Self) -> Bool {
            first.uuid == second.uuid && first.characteristics.map(\.uuid) == second.characteristics.map(\.uuid)
                && first.characteristics.map(\.properties) == second.characteristics.map(\.properties)
        }
    }

    /// The answer in JSON.
    func json(id: String?) -> String {
        var object = JSONObject()
        object.add("id", id)
        switch self {
        case .done: object.add("ok", true)
        case .connected(let mtu, let adapter):
            object.add("ok", true)
            object.add("mtu", mtu)
            object.add("adapter", adapter)
        case .value(let value):
            object.add("ok", true)
            object.add("value", value.hexadecimal(separator: ""))
        case .services(let services):
            object.add("ok", true)
            object.add("services", services.map(Self.object))
        case .refused(let refusal):
            object.add("ok", false)
            object.add("error", refusal.code.rawValue)
            object.add("reason", refusal.reason)
        }
        return object.text
    }

    private static func object(_ service: Service) -> JSONObject {
        JSONObject { object in
            object.add("uuid", service.uuid.description)
            object.add(
                "characteristics",
                service.characteristics.map { characteristic in
                    JSONObject {
                        $0.add("uuid", characteristic.uuid.description)
                        $0.add("properties", characteristic.properties)
                    }
                })
        }
    }
}

extension GATTCharacteristicProperties {
    /// The names of the properties, as documents use them.
    var names: [String] {
        let all: [(GATTCharacteristicProperties, String)] = [
            (.read, "read"), (.write, "write"), (.writeWithoutResponse, "writeWithoutResponse"), (.notify, "notify"),
            (.indicate, "indicate"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}
