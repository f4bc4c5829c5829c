import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers
@testable import BluetoothLE

@Suite("Pending calls")
struct PendingCallsTests {
    @Test("A task cancelled after it suspends but before its call is posted resumes immediately")
    func cancelledBeforePosted() async throws {
        let calls = PendingCalls()
        let token = try #require(calls.insert(.beginning(nil)))
        let result = await withUnsafeContinuation { (waiter: PendingCalls.Waiter) in
            #expect(calls.suspend(waiter, token) == nil)
            guard let cancelled = calls.cancel(token) else {
                return waiter.resume(returning: .failure(.adapterRemoved))
            }
            #expect(!cancelled.isPosted, "there is nothing to cancel yet")
            cancelled.waiter.resume(returning: .failure(.cancelled))
        }
        #expect(throws: BluetoothError.cancelled) { try result.get() }
        #expect(calls.take(token) == nil, "an answer finds nobody")
        #expect(calls.posted(token), "the cancellation is posted behind the call")
        #expect(!calls.posted(token))
        #expect(calls.suspendedCount == 0)
    }
}
