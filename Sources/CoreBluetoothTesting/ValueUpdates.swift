import BluetoothLE
import Foundation

/// The values that an app sends to a subscribed `VirtualCentral`, while this is referenced.
///
/// It ends with the subscription, and throws if the link ends first.
public struct ValueUpdates: AsyncSequence, Sendable {
    let values: EventSequence<[UInt8]>

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var values: EventSequence<[UInt8]>.AsyncIterator

        /// The next value; nil when the subscription has ended.
        public mutating func next() async throws -> Data? { try await values.next().map { Data($0) } }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(values: values.makeAsyncIterator()) }
}
