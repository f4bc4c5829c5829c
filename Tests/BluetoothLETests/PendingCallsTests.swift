import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import Testing

@testable import BluetoothHost
@testable import BluetoothLE

@Suite("Calls that wait for the adapter")
struct PendingCallsTests {
    @Test("A task that is cancelled between its suspension and the posting of its call goes on at once")
    func cancelledBeforePosted() async throws {
        let calls = PendingCalls()
        let token = try #require(calls.insert(.beginning(nil)))
        let result = await withCheckedContinuation { (waiter: PendingCalls.Waiter) in
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

@Suite("Writes without response that wait for a credit")
struct WaitingWriteTests {
    @Test("Those to services that change meanwhile are taken out, and nobody else's place is lost")
    func servicesChange() {
        let link = Link(
            LinkIdentifier(slot: 0, generation: 1),
            LinkInformation(
                role: .central, peer: PeerID(DeviceAddress(1, kind: .public)), address: DeviceAddress(1, kind: .public),
                mtu: 23,
                parameters: CurrentConnectionParameters(
                    interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(4)),
                phys: LinkPHYs(), dataLength: LinkDataLength(),
                security: .unprotected),
            name: nil)
        let targets: [(UInt64, AttributeHandle?)] = [(1, 0x0004), (2, 0x0005), (3, nil), (4, 0x000F), (5, 0x0010)]
        for (token, target) in targets { #expect(link.enqueue(CallToken(rawValue: token), for: target)) }
        #expect(link.removeSenders(in: 0x0005...0x000F).map(\.rawValue) == [2, 4])
        _ = link.lease.add(5)
        #expect((0..<5).compactMap { _ in link.nextSender()?.rawValue } == [1, 3, 5])
        #expect(link.removeSenders(in: 0x0001...0xFFFF) == [])
    }
}
