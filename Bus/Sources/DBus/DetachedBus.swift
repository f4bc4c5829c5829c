import CSystemd
import Glibc

/// Two connections without a bus between them, for tests of what messages can carry.
package final class DetachedBus {
    private let sender: OpaquePointer
    private let receiver: OpaquePointer
    private let buffer = SignalBuffer()

    package init() throws(BusFailure) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .system("create a bus", errno: errno)
        }
        let sender = try Self.open(ends[0]) { _ in 0 }
        let receiver = try Self.open(ends[1]) { bus in
            // Any identifier serves, because nobody compares it.
            let result = sd_bus_set_server(bus, 1, sd_id128_t(qwords: (1, 1)))
            return result < 0 ? result : sd_bus_set_anonymous(bus, 1)
        }
        self.sender = sender
        self.receiver = receiver
        for _ in 0..<Self.turnLimit where sd_bus_is_ready(sender) == 0 || sd_bus_is_ready(receiver) == 0 {
            _ = sd_bus_process(sender, nil)
            _ = sd_bus_process(receiver, nil)
        }
        guard sd_bus_is_ready(receiver) > 0 else { throw .system("connect to a bus", errno: EPROTO) }
    }

    /// The maximum number of messages to process before one arrives. The two ends are in one process, so it is there.
    private static let turnLimit = 100

    private static func open(
        _ descriptor: Int32, _ configure: (OpaquePointer) -> Int32
    ) throws(BusFailure) -> OpaquePointer {
        var bus: OpaquePointer?
        guard sd_bus_new(&bus) >= 0, let bus else { throw .system("create a bus", errno: ENOMEM) }
        var result = sd_bus_set_fd(bus, descriptor, descriptor)
        if result >= 0 { result = configure(bus) }
        if result >= 0 { result = sd_bus_start(bus) }
        guard result >= 0 else { throw .system("create a bus", errno: -result) }
        return bus
    }

    deinit {
        sd_bus_close_unref(sender)
        sd_bus_close_unref(receiver)
    }

    /// Puts values into a message, and reads them back as a receiver would.
    ///
    /// - Parameter append: appends the values.
    /// - Throws: `.invalidMessage` if the message could not be sent.
    package func carry(
        _ append: (any ValueWriter) throws(BusFailure) -> Void
    ) throws(BusFailure) -> Result<[DBusValue], BusError> {
        var pointer: OpaquePointer?
        let created = sd_bus_message_new_signal(sender, &pointer, "/", "org.example.Fuzz", "Values")
        guard created >= 0, let pointer else { throw .invalidMessage(errno: -created) }
        let message = Message(owning: pointer)
        try append(message)
        let sealed = sd_bus_message_seal(pointer, 1, 0)
        guard sealed >= 0 else { throw .invalidMessage(errno: -sealed) }
        return Self.values(of: message)
    }

    /// Puts values into a signal buffer, sends it, and reads them from the message that arrives.
    ///
    /// - Parameters:
    ///   - signature: the signature of all values.
    ///   - append: appends the values.
    /// - Throws: `.invalidMessage` if the signal could not be sent or received.
    package func carrySignal(
        _ signature: String, _ append: (any ValueWriter) throws(BusFailure) -> Void
    ) throws(BusFailure) -> Result<[DBusValue], BusError> {
        buffer.begin(.root, "org.example.Fuzz", "Values", signature: signature)
        try append(buffer)
        let descriptor = sd_bus_get_fd(sender)
        let isSent = buffer.withSignal { octets in
            octets.map { write(descriptor, $0.baseAddress, $0.count) == $0.count } ?? false
        }
        guard isSent else { throw .invalidMessage(errno: EMSGSIZE) }
        for _ in 0..<Self.turnLimit {
            var pointer: OpaquePointer?
            let result = sd_bus_process(receiver, &pointer)
            guard result >= 0 else { throw .invalidMessage(errno: -result) }
            guard let pointer else { continue }
            let message = Message(owning: pointer)
            if message.member == "Values" { return Self.values(of: message) }
        }
        throw .invalidMessage(errno: EBADMSG)
    }

    private static func values(of message: Message) -> Result<[DBusValue], BusError> {
        Result<Message, BusError>.success(message).values
    }
}
