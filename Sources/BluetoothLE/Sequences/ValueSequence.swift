import BluetoothAdapter
import BluetoothValues

/// The decoded values of a peer's notifications or indications. Its lifetime is that of an `EventSequence`.
///
/// A malformed value throws `.malformedValue`. This ends a `for` loop but not the sequence: an iterator can continue
/// with the next value.
public struct ValueSequence<Value: CharacteristicValue>: AsyncSequence, Sendable {
    /// A decoded value of the characteristic.
    public typealias Element = Value
    /// The error type: `.malformedValue`, or an error of the underlying `EventSequence`.
    public typealias Failure = BluetoothError

    let values: EventSequence<[UInt8]>

    /// Decodes each value when it is taken. The iterator can continue after a malformed value.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var values: EventSequence<[UInt8]>.AsyncIterator

        /// The next value; nil once the source has ended without an error. Throws `.cancelled` when the task is
        /// cancelled.
        public mutating func next() async throws(BluetoothError) -> Value? {
            guard let value = try await values.next() else { return nil }
            return try Value(received: value)
        }

        /// See `next()`. The caller keeps its isolation.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BluetoothError) -> Value? {
            guard let value = try await values.next(isolation: actor) else { return nil }
            return try Value(received: value)
        }
    }

    /// Creates an iterator over the values that no iterator has returned yet. Each value goes to only one iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(values: values.makeAsyncIterator())
    }
}
