import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// The handles of the attributes that a client may change.
enum ServerHandles {
    static let fixed: UInt16 = 0x0015
    static let short: UInt16 = 0x0017
    static let long: UInt16 = 0x0023
    static let protected: UInt16 = 0x0025
}

extension GATTDatabase {
    /// A database with one of everything: services of both lengths of UUID, secondary, included, at the very end of the
    /// handles; values of every kind, with every kind of permission.
    static func forFuzzing() -> GATTDatabase {
        var database = GATTDatabase()
        let digits = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let services: [(GATTServiceDefinition, AttributeHandle)] = [
            (.genericAccess(deviceName: "Thing"), 0x0001),
            (.genericAttribute(), 0x0008),
            (
                .init(
                    uuid: .init(0x180D),
                    characteristics: [
                        .init(uuid: .init(0x2A37), properties: [.notify, .indicate]),
                        .init(uuid: .init(0x2A38), properties: [.read, .write], value: .fixedLength([1, 2, 3, 4])),
                        .init(
                            uuid: .init(0x2A39), properties: [.write, .writeWithoutResponse],
                            value: .variableLength([], maximum: 8)),
                    ]), 0x0010
            ),
            (
                .init(
                    uuid: uuid(1), isPrimary: false, includes: [0x0010],
                    characteristics: [
                        .init(uuid: uuid(2), properties: [.read, .write], value: .variableLength(digits)),
                        .init(
                            uuid: uuid(3), properties: [.read, .write, .writeWithoutResponse, .notify],
                            permissions: .init(
                                read: .encrypted, write: .authenticatedSecureConnections, minimumEncryptionKeySize: 10),
                            value: .variableLength([7])),
                        .init(uuid: uuid(4), properties: [.read, .write, .indicate]),
                        .init(uuid: uuid(5), properties: .read, value: .constant([7, 8, 9])),
                    ]), 0x0020
            ),
            (
                .init(
                    uuid: uuid(6), includes: [0x0020],
                    characteristics: [.init(uuid: uuid(4), properties: [.read, .write], value: .dynamic)]), 0xFFFC
            ),
        ]
        for (service, handle) in services {
            do { _ = try database.add(service, at: handle) } catch { fatalError("\(service.uuid): \(error)") }
        }
        return database
    }

    var handlesForFuzzing: [AttributeHandle] {
        (UInt16(0x0001)...0x0030).map { AttributeHandle(rawValue: $0) }
    }

    private static func uuid(_ last: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0xE07F_0AE8_00BB_47F5, low: 0x94F4_4A71_74EA_3000 | last)
    }
}
