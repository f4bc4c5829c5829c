import BluetoothHost
import Foundation

/// A central's request for a value of this application's, or to change one.
open class CBATTRequest: NSObject {
    /// The central.
    open var central: CBCentral { requester }
    /// The characteristic whose value it is.
    open var characteristic: CBCharacteristic { target }
    /// Where in the value to begin.
    open var offset: Int { position }
    /// What is to be written; or, when a read is answered, the value from `offset` on.
    open var value: Data? {
        get { currentValue }
        set { currentValue = newValue }
    }

    private let requester: CBCentral
    private let target: CBCharacteristic
    private let position: Int
    @Guarded private var currentValue: Data?
    /// How to answer; nil where no answer is wanted, or there has been one.
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

/// A request that a central waits to be answered.
enum PendingAnswer: Sendable {
    case read(ServerRequest, Attachment)
    case write(ServerRequest, Attachment)
    /// A command: nobody waits, but a program may answer all the same.
    case unneeded
}
