import BluetoothBase
import BluetoothHCI
import BluetoothHost

extension ScriptedController {
    /// A host whose controller has the extended commands: so many advertising sets of so many octets, on all PHYs.
    static func extended(
        sets: UInt8 = 4, length: UInt16 = 1650, features: [UInt8] = [0x08, 0x19, 0, 0, 0, 0, 0, 0],
        _ answers: [HCIOpcode: Answer] = [:], _ configure: (inout HostConfiguration) -> Void = { _ in }
    ) -> ScriptedController {
        ready(
            [
                .leReadLocalSupportedFeatures: .complete(.success, features),
                .leReadMaximumAdvertisingDataLength: .complete(
                    .success, [UInt8(truncatingIfNeeded: length), UInt8(length >> 8)]),
                .leReadNumberOfSupportedAdvertisingSets: .complete(.success, [sets]),
                .leSetExtendedAdvertisingParameters: .complete(.success, [0]),
                .leExtendedCreateConnection: .status(.success),
            ].merging(answers) { $1 }, configure)
    }

    /// The commands since the last call, as `opcode: parameters` in hexadecimal.
    mutating func takeCommands() -> [String] {
        defer { commands.removeAll() }
        return commands.map { "\($0.opcode): \($0.parameters.hexadecimal(separator: "").lowercased())" }
    }

    /// One report of an LE Extended Advertising Report event, with all its octets: an undirected one of LE 1M, of which
    /// more may follow.
    mutating func reportExtended(
        type: UInt16 = 0, address: [UInt8]? = [1, 0, 0, 0, 0, 0xC0], sid: UInt8 = 0, data: [UInt8]
    ) {
        var event: [UInt8] = [0x04, 0x3E, UInt8(26 + data.count), 0x0D, 0x01]
        event += [UInt8(truncatingIfNeeded: type), UInt8(type >> 8)]
        if let address { event += [0x01] + address } else { event += [0xFF, 0, 0, 0, 0, 0, 0] }
        event += [0x01, 0x02, sid, 0x05, 0xC4, 0x00, 0x00, 0x00, 0, 0, 0, 0, 0, 0, UInt8(data.count)]
        event += data
        receive(event)
    }
}
