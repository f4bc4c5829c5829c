import BluetoothBase
import BluetoothHCI

/// Formats a record of BlueZ's monitor that is not a packet. The layouts are those of the kernel's monitor channel.
struct MonitorText {
    /// Whether to show the parameters of management commands and events that contain keys.
    var showsKeys: Bool

    private static let types = ["primary", "AMP"]
    private static let buses = [
        "virtual", "USB", "PC Card", "UART", "RS-232", "PCI", "SDIO", "SPI", "I2C", "SMD", "virtio",
    ]
    private static let channels = ["raw", "user", "management"]
    /// The names of the priorities, as in the system log.
    private static let priorities = ["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"]
    /// The management commands that contain keys, PINs, passkeys or out-of-band data.
    private static let keyedCommands: Set<UInt16> = [
        0x0012, 0x0013, 0x0016, 0x001E, 0x0020, 0x0021, 0x0030, 0x003B, 0x0046,
    ]
    /// The management events that contain a new key or a passkey.
    private static let keyedEvents: Set<UInt16> = [0x0009, 0x000A, 0x0017, 0x0018, 0x0019]
    /// The management event that completes a command. It begins with the command's opcode.
    private static let commandComplete: UInt16 = 0x0001

    func text(_ opcode: BTSnoop.MonitorOpcode, _ data: Span<UInt8>, _ description: inout PacketDescription) -> String {
        do throws(DecodingFailure) {
            return joined("\(opcode)", try content(opcode, ByteReader(data)))
        } catch {
            let isHidden = !showsKeys && (opcode == .controlCommand || opcode == .controlEvent)
            return joined("\(opcode)", description.malformed(error, isHidden ? data.extracting(0..<0) : data))
        }
    }

    private func content(
        _ opcode: BTSnoop.MonitorOpcode, _ data: consuming ByteReader
    ) throws(DecodingFailure) -> String {
        var reader = data
        switch opcode {
        case .newIndex:
            let type = name(try reader.readUInt8(), Self.types)
            let bus = name(try reader.readUInt8(), Self.buses)
            let address = try reader.readAddress(.public)
            return "\(address) \(type) \(bus) \(printable(try reader.readBytes(8)))"
        case .indexInfo:
            return "\(try reader.readAddress(.public)) manufacturer \(try reader.readUInt16())"
        case .systemNote:
            return printable(reader.readRemaining())
        case .userLogging:
            let priority = name(try reader.readUInt8(), Self.priorities)
            let identifier = printable(try reader.readBytes(Int(try reader.readUInt8())))
            return "\(priority) \(joined(identifier + ":", printable(reader.readRemaining())))"
        case .controlOpen:
            return try opening(&reader)
        case .controlClose:
            return cookie(try reader.readUInt32())
        case .controlCommand, .controlEvent:
            return try control(opcode, &reader)
        default:
            return reader.readRemaining().hexadecimal()
        }
    }

    /// Returns the program that opened a socket, and the socket's channel.
    private func opening(_ reader: inout ByteReader) throws(DecodingFailure) -> String {
        let cookie = cookie(try reader.readUInt32())
        let channel = name(try reader.readUInt16(), Self.channels)
        let (version, revision) = (try reader.readUInt8(), try reader.readUInt16())
        let isTrusted = try reader.readUInt32() & 1 != 0
        let program = printable(try reader.readBytes(Int(try reader.readUInt8())))
        return joined(cookie, channel, "version \(version).\(revision)", isTrusted ? "trusted" : "", program)
    }

    /// Returns the text of a command or event of the management interface.
    private func control(
        _ opcode: BTSnoop.MonitorOpcode, _ reader: inout ByteReader
    ) throws(DecodingFailure) -> String {
        let cookie = cookie(try reader.readUInt32())
        let code = try reader.readUInt16()
        let parameters = reader.readRemaining()
        var isKeyed = (opcode == .controlCommand ? Self.keyedCommands : Self.keyedEvents).contains(code)
        if opcode == .controlEvent, code == Self.commandComplete, parameters.count >= 2 {
            isKeyed = Self.keyedCommands.contains(UInt16(parameters[0]) | UInt16(parameters[1]) << 8)
        }
        return joined(
            cookie, "code 0x" + hexadecimal(code, digits: 4),
            isKeyed && !showsKeys ? "(hidden)" : parameters.hexadecimal())
    }

    private func cookie(_ number: UInt32) -> String { "socket \(number)" }

    /// Returns the name at `index`, or the number if it has no name.
    private func name(_ index: some BinaryInteger, _ names: [String]) -> String {
        Int(index) < names.count ? names[Int(index)] : "0x" + hexadecimal(index, digits: 2)
    }

    /// Returns the text up to its first zero octet, without line breaks and terminal control characters.
    private func printable(_ bytes: Span<UInt8>) -> String {
        var text: [UInt8] = []
        for index in bytes.indices {
            if bytes[index] == 0 { break }
            text.append(bytes[index])
        }
        var decoded = String(decoding: text, as: UTF8.self).unicodeScalars
        while decoded.last == "\n" || decoded.last == "\r" { decoded.removeLast() }
        return String(String.UnicodeScalarView(decoded.map { $0.isInvisible ? "\u{FFFD}" : $0 }))
    }
}
