import BluetoothLE
import Foundation

/// The values that an app sends to a `VirtualCentral`, which stays subscribed while this sequence is referenced.
///
/// The sequence ends with the subscription. It throws if the link ends first.
public struct ValueUpdates: AsyncSequence, Sendable {
    let values: EventSequence<[UInt8]>

    /// An iterator over the values, in the order received.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var values: EventSequence<[UInt8]>.AsyncIterator

        /// The next value; nil when the subscription has ended.
        public mutating func next() async throws -> Data? { try await values.next().map { Data($0) } }
    }

    /// Creates an iterator. All iterators of a sequence share one buffer, so each value reaches only one of them.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(values: values.makeAsyncIterator()) }
}
