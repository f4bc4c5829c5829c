import CSystemd
import Glibc

extension BusConnection {
    // MARK: - Messages

    /// A signal to everyone, without values.
    package func makeSignal(
        _ path: ObjectPath, _ interface: String, _ member: String
    ) throws(BusFailure) -> Message {
        // Passing the strings as arguments would copy each of them to the heap.
        try make { pointer in
            path.description.withCString { path in
                interface.withCString { interface in
                    member.withCString { sd_bus_message_new_signal(bus, &pointer, path, interface, $0) }
                }
            }
        }
    }

    /// A method call, without values.
    package func makeCall(
        to destination: String, _ path: ObjectPath, _ interface: String, _ member: String
    ) throws(BusFailure) -> Message {
        let message = try make {
            sd_bus_message_new_method_call(bus, &$0, destination, path.description, interface, member)
        }
        // A client that is gone is not started again.
        _ = sd_bus_message_set_auto_start(message.pointer, 0)
        return message
    }

    /// A reply to a call, without values.
    package func makeReply(to call: Message) throws(BusFailure) -> Message {
        try make { sd_bus_message_new_method_return(call.pointer, &$0) }
    }

    /// An error as the reply to a call.
    package func makeError(_ error: BusError, to call: Message) throws(BusFailure) -> Message {
        var described = busErrorNone()
        sd_bus_error_set(&described, error.name, error.message)
        defer { sd_bus_error_free(&described) }
        return try make { sd_bus_message_new_method_error(call.pointer, &$0, &described) }
    }

    private func make(_ create: (inout OpaquePointer?) -> Int32) throws(BusFailure) -> Message {
        var pointer: OpaquePointer?
        let result = create(&pointer)
        guard result >= 0, let pointer else { throw .invalidMessage(errno: -result) }
        return Message(owning: pointer)
    }

    /// Sends a message. It is queued if the bus does not accept it now.
    package func send(_ message: Message) throws(BusFailure) {
        let result = sd_bus_send(bus, message.pointer, nil)
        if result < 0 { throw .invalidMessage(errno: -result) }
    }

    /// Sends a signal, unless it is incomplete, other messages wait, or the bus does not accept it now.
    ///
    /// It does not pass through sd-bus, which has written all of its messages to the same socket before.
    ///
    /// - Returns: false if the signal was not sent. Send it as a `Message` then, which can be queued.
    package func send(_ signal: SignalBuffer) -> Bool {
        guard queuedMessages == 0 else { return false }
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        let descriptor = descriptor
        return signal.withSignal { octets in
            guard let octets else { return false }
            let count = Glibc.send(descriptor, octets.baseAddress, octets.count, flags)
            // The bus cannot follow after a part of a message. Reading then reports the end of the connection.
            if count >= 0, count < octets.count { shutdown(descriptor, Int32(SHUT_RDWR)) }
            return count >= 0
        }
    }

    // MARK: - Calls

    /// Calls a method of another program.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait for the reply.
    ///   - completion: receives the values of the reply or the error, exactly once, unless the call is released before.
    ///     A call to a program that leaves too many calls unanswered fails.
    /// - Returns: the pending call. Releasing it abandons the call.
    package func call(
        _ destination: String, _ path: ObjectPath, _ interface: String, _ member: String, _ values: [DBusValue] = [],
        timeout: Duration, completion: @escaping (Result<[DBusValue], BusError>) -> Void
    ) -> PendingCall {
        call(destination, path, interface, member, values, timeout: timeout) { (reply: Result<Message, BusError>) in
            completion(reply.values)
        }
    }

    /// Like `call` above, but with the whole reply, whose file descriptors belong to it.
    package func call(
        _ destination: String, _ path: ObjectPath, _ interface: String, _ member: String, _ values: [DBusValue] = [],
        timeout: Duration, reply completion: @escaping (Result<Message, BusError>) -> Void
    ) -> PendingCall {
        let call = OutgoingCall(destination, timeout: timeout.microseconds, completion)
        do throws(BusFailure) {
            let message = try makeCall(to: destination, path, interface, member)
            try message.append(values)
            calls.begin(call, message)
        } catch {
            calls.fail(call, .invalidArgs("\(error)"))
        }
        return PendingCall(call)
    }

    /// A call that waits for its reply.
    package final class PendingCall {
        private let call: OutgoingCall

        fileprivate init(_ call: OutgoingCall) { self.call = call }

        deinit { call.abandon() }
    }

    /// Forgets the calls to a program that has left the bus.
    package func forgetCalls(to destination: String) { calls.forget(destination) }
}

extension Result<Message, BusError> {
    /// The values of a reply.
    package var values: Result<[DBusValue], BusError> {
        flatMap { message in
            do throws(BusError) {
                return .success(try message.readAll())
            } catch {
                return .failure(error)
            }
        }
    }
}

extension Duration {
    fileprivate var microseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(max(seconds, 0)) * 1_000_000 + UInt64(max(attoseconds, 0)) / 1_000_000_000_000
    }
}
