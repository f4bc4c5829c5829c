import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// A line of standard input that tells a server to send a value: `notify HANDLE HEX` or `indicate HANDLE HEX`.
struct SendLine: Equatable {
    /// The error in a line.
    struct Failure: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    var isIndication: Bool
    /// The handle of the characteristic's value.
    var handle: AttributeHandle
    var value: [UInt8]

    /// Nil for a line without a command: blank, or a comment after `#`.
    init?(_ line: String) throws(Failure) {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" })
        guard let verb = words.first, !verb.hasPrefix("#") else { return nil }
        switch verb {
        case "notify": isIndication = false
        case "indicate": isIndication = true
        default: throw Failure(description: "expected notify HANDLE HEX or indicate HANDLE HEX")
        }
        guard words.count > 1, let handle = AttributeHandle(text: words[1]) else {
            throw Failure(description: "expected a handle such as 0x0012 after \(verb)")
        }
        self.handle = handle
        guard let value = [UInt8](hexadecimal: words.dropFirst(2).joined(separator: " ")) else {
            throw Failure(description: "expected octets in hexadecimal after the handle")
        }
        guard value.count <= GATTAttributeValue.maximumLength else {
            throw Failure(description: "the value is longer than \(GATTAttributeValue.maximumLength) octets")
        }
        self.value = value
    }
}

extension AttributeHandle {
    /// A handle in hexadecimal after `0x`, or otherwise in decimal. It is never 0.
    init?(text: some StringProtocol) {
        let number = text.hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text)
        guard let number, number > 0 else { return nil }
        self.init(number)
    }
}
