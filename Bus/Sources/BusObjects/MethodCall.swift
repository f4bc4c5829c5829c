import DBus

/// A method call to answer, exactly once. A call that is released without an answer is answered with an error.
package final class MethodCall {
    /// The answer to a call.
    package enum Answer {
        case values([DBusValue])
        /// The closure appends the values to the reply.
        case appended((Message) throws(BusFailure) -> Void)
        case error(BusError)
    }

    /// Sends answers. The object tree implements it.
    package protocol Answering: AnyObject {
        func answer(_ call: MethodCall, _ answer: Answer)
        func ended(_ call: MethodCall)
    }

    /// The call as received.
    package let message: Message
    /// The unique name of the caller.
    package let sender: String
    package let path: ObjectPath
    package let interface: String?
    package let member: String
    package let signature: String
    package let arguments: [DBusValue]
    private weak var answering: (any Answering)?
    private var isAnswered = false

    package init(
        _ message: Message, sender: String, path: ObjectPath, member: String, arguments: [DBusValue],
        answering: any Answering
    ) {
        self.message = message
        self.sender = sender
        self.path = path
        self.interface = message.interface
        self.member = member
        self.signature = message.signature
        self.arguments = arguments
        self.answering = answering
    }

    deinit {
        if !isAnswered { end(.error(.noReply)) }
        answering?.ended(self)
    }

    /// Answers the call with values. A second answer is ignored.
    package func reply(_ values: DBusValue...) { end(.values(values)) }

    /// Answers the call with the values that the closure appends to the reply.
    package func reply(appending append: @escaping (Message) throws(BusFailure) -> Void) { end(.appended(append)) }

    /// Answers the call with an error.
    package func fail(_ error: BusError) { end(.error(error)) }

    /// Ends the call without an answer, because the caller is gone.
    package func drop() { isAnswered = true }

    private func end(_ answer: Answer) {
        guard !isAnswered else { return }
        isAnswered = true
        answering?.answer(self, answer)
    }
}
