import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("GATT client: discovery of the whole database")
struct ClientDatabaseDiscoveryTests {
    static let vendor: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    static let configuration: BluetoothUUID = .clientCharacteristicConfiguration

    private func discover(
        _ server: inout ScriptedServer, mtu: Int, includes: Bool = true
    ) throws -> DiscoveredDatabase {
        guard
            case .completed(_, .database(let found)) = try run(
                .discoverAll(includes: includes), on: &server, mtu: mtu)
        else {
            Issue.record("the discovery failed")
            return DiscoveredDatabase()
        }
        return found
    }

    /// A server of everything there is: 16- and 128-bit UUIDs, includes of both, a secondary service behind all
    /// primary ones, holes, descriptors.
    static var assorted: ScriptedServer {
        var server = ScriptedServer()
        server.addService(.genericAccess) {
            $0.addCharacteristic(.deviceName)
            $0.addCharacteristic(.appearance)
        }
        server.addService(.genericAttribute) {
            $0.addCharacteristic(.serviceChanged, .indicate, descriptors: [configuration])
        }
        server.addService(vendor, at: 0x20, end: 0x40) {
            $0.addInclude(0x80, 0x83, vendor)
            $0.addInclude(0x01, 0x05, .genericAccess)
            $0.addCharacteristic(vendor, [.read, .notify], descriptors: [configuration, vendor, "2901"])
            $0.addCharacteristic("2A19", descriptors: ["2904"])
        }
        server.addService(vendor, isPrimary: false, at: 0x80) {
            $0.addInclude(0x90, 0x92, "180A")
            $0.addCharacteristic("2A1A")
        }
        server.addService("180A", isPrimary: false, at: 0x90) { $0.addCharacteristic("2A29") }
        return server
    }

    @Test("everything is found, and every element belongs to the right parent", arguments: [23, 64, 517])
    func everything(mtu: Int) throws {
        var server = Self.assorted
        let found = try discover(&server, mtu: mtu)
        #expect(found.services.map(\.startHandle) == [1, 6, 0x20, 0x80, 0x90])
        #expect(found.services.map(\.endHandle) == [5, 9, 0x40, 0x83, 0x92])
        #expect(found.services.map(\.isPrimary) == [true, true, true, false, false])
        #expect(found.services.map(\.uuid) == [.genericAccess, .genericAttribute, Self.vendor, Self.vendor, "180A"])
        #expect(found.includes.map(\.declarationHandle) == [0x21, 0x22, 0x81])
        #expect(found.includes.map(\.uuid) == [Self.vendor, .genericAccess, "180A"])
        #expect(found.characteristics.map(\.declarationHandle) == [2, 4, 7, 0x23, 0x28, 0x82, 0x91])
        #expect(found.characteristics.map(\.endHandle) == [3, 5, 9, 0x27, 0x40, 0x83, 0x92])
        #expect(found.descriptors.map(\.handle) == [9, 0x25, 0x26, 0x27, 0x2A])
        let service = found.services[2]
        #expect(found.includes(of: service).map(\.startHandle) == [0x80, 0x01])
        #expect(found.characteristics(of: service).map(\.valueHandle) == [0x24, 0x29])
        #expect(
            found.descriptors(of: found.characteristics[3]).map(\.uuid)
                == [Self.configuration, Self.vendor, .characteristicUserDescription])
        #expect(found.descriptors(of: found.characteristics[0]).isEmpty)
    }

    @Test("without includes, neither they nor the services found only through them are reported")
    func withoutIncludes() throws {
        var server = Self.assorted
        let found = try discover(&server, mtu: 517, includes: false)
        #expect(found.includes.isEmpty)
        #expect(found.services.map(\.startHandle) == [1, 6, 0x20])
        #expect(found.characteristics.map(\.declarationHandle) == [2, 4, 7, 0x23, 0x28])
    }

    @Test("discovering a server without services takes one round trip")
    func empty() throws {
        var server = ScriptedServer()
        #expect(try discover(&server, mtu: 23) == DiscoveredDatabase())
        #expect(server.requests == 1)
    }

    @Test("the characteristics of a secondary service that no service includes are not reported")
    func orphans() throws {
        var server = ScriptedServer()
        server.addService("180F") { $0.addCharacteristic("2A19") }
        server.addService("180A", isPrimary: false) { $0.addCharacteristic("2A29") }
        server.addService("180D") { $0.addCharacteristic("2A37") }
        let found = try discover(&server, mtu: 23)
        #expect(found.characteristics.map(\.uuid) == ["2A19", "2A37"])
        #expect(found.characteristics.map(\.endHandle) == [3, 9])
    }

    @Test("an include that overlaps another service adds no service; an include of a known service adds no duplicate")
    func overlappingInclude() throws {
        var server = ScriptedServer()
        server.addService("180F") {
            $0.addInclude(0x04, 0x09, "180A")
            $0.addInclude(0x06, 0x08, "180D")
            $0.addCharacteristic("2A19")
        }
        server.addService("180D", at: 6) { $0.addCharacteristic("2A37") }
        let found = try discover(&server, mtu: 23)
        #expect(found.includes.count == 2)
        #expect(found.services.map(\.startHandle) == [1, 6])
        #expect(found.services.map(\.isPrimary) == [true, true])
    }

    @Test("A4: a database that ends at 0xFFFF is discovered to its end", arguments: [23, 517])
    func lastHandle(mtu: Int) throws {
        var server = ScriptedServer()
        server.addService("180F", at: 0xFFFC) { $0.addCharacteristic("2A19", descriptors: [Self.configuration]) }
        let found = try discover(&server, mtu: mtu)
        #expect(found.services == [DiscoveredService(uuid: "180F", startHandle: 0xFFFC, endHandle: 0xFFFF)])
        #expect(found.characteristics.map(\.endHandle) == [0xFFFF])
        #expect(found.descriptors == [DiscoveredDescriptor(uuid: Self.configuration, handle: 0xFFFF)])
        #expect(server.requests == 3)
    }

    @Test(
        "discovering 100 services of two characteristics takes the minimum number of round trips",
        arguments: [([0, 0], 517, 6), ([0, 1], 517, 11), ([1, 1], 517, 12), ([0, 0], 23, 102)] as [([Int], Int, Int)])
    func roundTrips(descriptors: [Int], mtu: Int, expected: Int) throws {
        var server = ScriptedServer()
        for number in 0..<100 {
            server.addService(BluetoothUUID(UInt16(0x3000 + number))) {
                for (index, count) in descriptors.enumerated() {
                    $0.addCharacteristic(
                        BluetoothUUID(UInt16(0x4000 + 2 * number + index)), .notify,
                        descriptors: Array(repeating: Self.configuration, count: count))
                }
            }
        }
        let found = try discover(&server, mtu: mtu)
        #expect(found.services.count == 100)
        #expect(found.characteristics.count == 200)
        #expect(found.descriptors.count == 100 * descriptors.reduce(0, +))
        #expect(found.characteristics(of: found.services[99]).map(\.uuid) == ["40C6", "40C7"])
        #expect(server.requests == expected)
    }
}
