import DBus
import Glibc
import HCITransport

/// This machine.
enum Machine {
    /// The host name, without its domain.
    static var name: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "ble-bus" }
        let octets = buffer.map(UInt8.init(bitPattern:))
        let text = BusText.repairing(octets.prefix { $0 != 0 && $0 != UInt8(ascii: ".") })
        return text.isEmpty ? "ble-bus" : text
    }
}

/// Messages to standard error. They have no timestamps, because the journal adds them.
enum Log {
    @Sendable static func write(_ message: String) {
        let line = Array("ble-bus: \(message)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }
}

extension TransportName {
    /// The number of the adapter in the names of the bus's objects.
    var adapterNumber: Int {
        if case .hciSocket(.index(let number)) = self { Int(number) } else { 0 }
    }
}
