import BluetoothAdapter
import BluetoothValues

/// The values that a peer notifies of or indicates, decoded. It begins, ends and keeps its source as an
/// `EventSequence` does.
///
/// A malformed value is thrown as `.malformedValue`, which ends a `for` loop, and not the sequence: an iterator that is asked
/// again goes on with the next value.
public struct ValueSequence<Value: CharacteristicValue>: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = BluetoothError

    let values: EventSequence<[UInt8]>

    public struct AsyncIterator: AsyncIteratorProtocol {
        var values: EventSequence<[UInt8]>.AsyncIterator

        /// The next value; nil once the source has ended in good order. Throws `.cancelled` when the task is cancelled.
        public mutating func next() async throws(BluetoothError) -> Value? {
            guard let value = try await values.next() else { return nil }
            return try Value(received: value)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BluetoothError) -> Value? {
            guard let value = try await values.next(isolation: actor) else { return nil }
            return try Value(received: value)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(values: values.makeAsyncIterator())
    }
}
