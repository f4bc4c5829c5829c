import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// The discovery of 100 services with two characteristics each: the requests are recorded once against a server, and then
/// the client alone is measured against the recorded responses.
struct DiscoveryScript {
    private var responses: [[UInt8]] = []
    private(set) var roundTrips = 0

    init() {
        var server = GATTServer()
        for _ in 0..<100 {
            let characteristics = ["2A37", "2A38"].map { (uuid: BluetoothUUID) in
                GATTCharacteristicDefinition(uuid: uuid, properties: .read, value: .constant([1]))
            }
            let service = GATTServiceDefinition(uuid: "180D", characteristics: characteristics)
            guard (try? server.database.add(service)) != nil else { fatalError("no room for another service") }
        }
        var connection = GATTServerConnection(), serverBearer = Self.bearer()
        var client = GATTClient(), bearer = Self.bearer(), writer = ByteWriter()
        _ = try? client.start(.discoverAll(includes: false), bearer: &bearer, at: .zero, into: &writer)
        while client.events.isEmpty {
            var response = ByteWriter()
            _ = server.receive(
                writer.span, connection: &connection, bearer: &serverBearer, security: .unprotected, at: .zero,
                into: &response)
            responses.append(response.bytes)
            writer.removeAll()
            client.receive(response.span, bearer: &bearer, at: .zero, into: &writer)
        }
        roundTrips = responses.count
    }

    private static func bearer() -> ATTBearer {
        var bearer = ATTBearer()
        bearer.exchangeMTU(clientRxMTU: 517, serverRxMTU: 517)
        return bearer
    }

    func run(_ count: Int) -> Int {
        var client = GATTClient(), bearer = Self.bearer(), writer = ByteWriter(reservingCapacity: 64), sum = 0
        for _ in 0..<count {
            _ = try? client.start(.discoverAll(includes: false), bearer: &bearer, at: .zero, into: &writer)
            for response in responses {
                writer.removeAll()
                client.receive(response.span, bearer: &bearer, at: .zero, into: &writer)
            }
            writer.removeAll()
            guard case .completed(_, .database(let database))? = client.events.first,
                database.services.count == 100, database.characteristics.count == 200
            else { fatalError("not discovered") }
            sum += database.characteristics.count
            client.events.removeAll(keepingCapacity: true)
        }
        return sum
    }
}
