import BluetoothHost
import Foundation

/// A central's request to read or write a value of this application.
open class CBATTRequest: NSObject {
    /// The central.
    open var central: CBCentral { requester }
    /// The characteristic whose value is read or written.
    open var characteristic: CBCharacteristic { target }
    /// The offset in the value, in octets.
    open var offset: Int { position }
    /// The value to write. For a read, set it to the value from `offset` on before responding.
    open var value: Data? {
        get { currentValue }
        set { currentValue = newValue }
    }

    private let requester: CBCentral
    private let target: CBCharacteristic
    private let position: Int
    @Guarded private var currentValue: Data?
    /// How to answer. Nil after the answer, and in all but the first of several requests that are delivered together.
    @Guarded var answer: PendingAnswer?

    init(_ central: CBCentral, _ characteristic: CBCharacteristic, offset: Int, value: Data?, answer: PendingAnswer?) {
        requester = central
        target = characteristic
        position = offset
        super.init()
        currentValue = value
        self.answer = answer
    }

    open override var description: String {
        "<CBATTRequest: \(place(of: self)), central = \(requester), characteristic = \(target), offset = \(position), "
            + "value = \(currentValue.map { "\($0 as NSData)" } ?? "nil")>"
    }
}

/// A request that needs an answer.
enum PendingAnswer: Sendable {
    case read(ServerRequest, Attachment)
    case write(ServerRequest, Attachment)
    /// A Write Command: it needs no answer, but the application may give one.
    case unneeded
}
