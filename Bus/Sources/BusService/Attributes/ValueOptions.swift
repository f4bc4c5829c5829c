import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import DBus

/// The options of `ReadValue` and `WriteValue`.
struct ValueOptions {
    /// How a value is written.
    enum WriteType: String {
        case command
        case request
        case reliable
    }

    var offset: UInt16 = 0
    var type: WriteType?
    /// Whether the client named a type that does not exist.
    var isTypeUnknown = false

    /// Reads options. Others than these are for servers, and ignored.
    init(_ dictionary: DBusValue) throws(BusError) {
        for entry in dictionary.entries ?? [] {
            switch (entry.key.text?.lowercased(), entry.value.unwrapped) {
            case ("offset", .uint16(let value)): offset = value
            case ("type", .string(let text)):
                type = WriteType(rawValue: text.lowercased())
                isTypeUnknown = type == nil
            case ("offset", _), ("type", _): throw .invalidArguments
            default: continue
            }
        }
    }
}

extension HostCall.Kind {
    /// Writes a value with a response, from an offset on. A value from an offset on, or one that is too long for one
    /// request, is written in parts.
    static func write(
        _ octets: [UInt8], to handle: AttributeHandle, offset: UInt16, on link: LinkIdentifier
    ) -> HostCall.Kind {
        offset == 0 ? .write(link, handle, octets) : .perform(link, .writeLong(handle, octets, offset: offset))
    }
}
