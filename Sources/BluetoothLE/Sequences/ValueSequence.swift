import BluetoothAdapter
import BluetoothValues

/// The values that a peer notifies or indicates, decoded. Its lifetime is that of an `EventSequence`.
///
/// A malformed value is thrown as `.malformedValue`. This ends a `for` loop but not the sequence: an iterator can
/// continue with the next value.
public struct ValueSequence<Value: CharacteristicValue>: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = BluetoothError

    let values: EventSequence<[UInt8]>

    public struct AsyncIterator: AsyncIteratorProtocol {
        var values: EventSequence<[UInt8]>.AsyncIterator

        /// The next value; nil once the source has ended without an error. Throws `.cancelled` when the task is
        /// cancelled.
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
