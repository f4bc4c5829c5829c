import BluetoothBase
import BluetoothHCI

/// The station that used each random address, learned from the commands that set them.
struct PrivateAddresses {
    private var owners: [UInt64: Int] = [:]
    private var current: [Int: DeviceAddress] = [:]

    /// Notes a command that a host has sent.
    mutating func sent(_ packet: Span<UInt8>, from station: Int) {
        // In LE Set Random Address, type, opcode and length precede the address, which is the only parameter (Core 5.4,
        // Vol 4, Part E, 7.8.4).
        let opcode = HCIOpcode.leSetRandomAddress.rawValue
        guard packet.count == 10, packet[0] == HCIPacketType.command.rawValue,
            UInt16(packet[1]) | UInt16(packet[2]) << 8 == opcode
        else { return }
        var value: UInt64 = 0
        for offset in (0..<6).reversed() { value = value << 8 | UInt64(packet[4 + offset]) }
        owners[value] = station
        current[station] = DeviceAddress(value, kind: .random)
    }

    func owner(of address: DeviceAddress) -> Int? { owners[address.value] }

    /// The address that a station has set most recently.
    func current(of station: Int) -> DeviceAddress? { current[station] }
}
