import CSystemd

/// A message. It must be used only on the thread of its connection.
package final class Message {
    let pointer: OpaquePointer

    /// Takes over a reference to a message.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Adds a reference to a message.
    convenience init(_ pointer: OpaquePointer) { self.init(owning: sd_bus_message_ref(pointer)) }

    deinit { sd_bus_message_unref(pointer) }

    /// The kind of a message.
    package enum Kind: UInt8, Sendable {
        case methodCall = 1
        case methodReturn = 2
        case methodError = 3
        case signal = 4
    }

    package var kind: Kind? {
        var type: UInt8 = 0
        guard sd_bus_message_get_type(pointer, &type) >= 0 else { return nil }
        return Kind(rawValue: type)
    }

    /// The object that is called, or that emits a signal.
    package var path: ObjectPath? { text(sd_bus_message_get_path).flatMap(ObjectPath.init) }
    package var interface: String? { text(sd_bus_message_get_interface) }
    package var member: String? { text(sd_bus_message_get_member) }
    /// The unique name of the sender.
    package var sender: String? { text(sd_bus_message_get_sender) }
    /// The signature of all values.
    package var signature: String { sd_bus_message_get_signature(pointer, 1).map { String(cString: $0) } ?? "" }
    /// Whether the caller waits for a reply.
    package var expectsReply: Bool {
        get { sd_bus_message_get_expect_reply(pointer) > 0 }
        set { _ = sd_bus_message_set_expect_reply(pointer, newValue ? 1 : 0) }
    }

    /// The error that a call was answered with.
    package var error: BusError? {
        guard let error = sd_bus_message_get_error(pointer), let name = error.pointee.name else { return nil }
        return BusError(
            name: String(cString: name), message: error.pointee.message.map { String(cString: $0) } ?? "")
    }

    private func text(_ read: (OpaquePointer?) -> UnsafePointer<CChar>?) -> String? {
        read(pointer).map { String(cString: $0) }
    }

    static func code(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }
}
