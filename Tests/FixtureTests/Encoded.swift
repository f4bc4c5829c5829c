import BluetoothATT
import BluetoothBase
import BluetoothHCI

/// What a value is written as, packet indicator or opcode first.
func encoded(_ command: borrowing HCICommandPacket) -> [UInt8] {
    var writer = ByteWriter()
    command.encodePacket(into: &writer)
    return writer.bytes
}

func encoded<Command: HCICommand>(_ command: Command) -> [UInt8] {
    var writer = ByteWriter()
    command.encodePacket(into: &writer)
    return writer.bytes
}

func encoded(_ event: borrowing HCIEvent) -> [UInt8] {
    var writer = ByteWriter()
    event.encodePacket(into: &writer)
    return writer.bytes
}

func encoded<Body: HCIEventBody & ~Escapable>(_ body: borrowing Body) -> [UInt8] {
    var writer = ByteWriter()
    body.encodePacket(into: &writer)
    return writer.bytes
}

func encoded(_ packet: borrowing ACLDataPacket) -> [UInt8] {
    var writer = ByteWriter()
    packet.encodePacket(into: &writer)
    return writer.bytes
}

func encoded(_ message: borrowing ATTMessage) -> [UInt8] {
    var writer = ByteWriter()
    message.encode(into: &writer)
    return writer.bytes
}
