import BluetoothATT
import BluetoothGATT
import BluetoothUsers
import Testing

@Suite("A peer's subscriptions")
struct PeerSubscriptionsTests {
    private func make(_ handles: [UInt16]) -> PeerSubscriptions {
        var subscriptions = PeerSubscriptions()
        for handle in handles { subscriptions[AttributeHandle(handle)] = .notifications }
        return subscriptions
    }

    @Test(
        "Subscriptions are found, and listed by handle, whatever their order was",
        arguments: [[], [3], [9, 3, 6], [1, 2, 3, 4]])
    func sorted(handles: [UInt16]) {
        let subscriptions = make(handles)
        #expect(subscriptions.all.map(\.handle.rawValue) == handles.sorted())
        for handle in UInt16(0)...10 {
            #expect(subscriptions[AttributeHandle(handle)] == (handles.contains(handle) ? .notifications : []))
        }
    }

    @Test("A changed subscription replaces the old one, and an empty one removes it")
    func changed() {
        var subscriptions = make([3, 6])
        subscriptions[3] = .indications
        #expect(subscriptions[3] == .indications)
        subscriptions[6] = []
        subscriptions[9] = []
        #expect(subscriptions.all.map(\.handle) == [3])
    }

    @Test("Subscriptions to withdrawn values are removed")
    func withdrawn() {
        var subscriptions = make([2, 3, 6, 9])
        subscriptions.remove(in: 3...8)
        #expect(subscriptions.all.map(\.handle) == [2, 9])
    }
}
