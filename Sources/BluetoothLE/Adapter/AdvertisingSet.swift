import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import Synchronization

/// Something that is advertised beside all the rest, until it is stopped, its time is over, or the adapter is closed.
///
/// It goes on after a peer has connected through it, and after the controller was reset or plugged in again.
public struct AdvertisingSet: Sendable {
    let router: EventRouter
    let token: CallToken
    private let end: AsyncQueue<Never>

    fileprivate init(_ router: EventRouter, _ token: CallToken, _ end: AsyncQueue<Never>) {
        self.router = router
        self.token = token
        self.end = end
    }

    /// Ends it. Does nothing where it has ended.
    public func stop() async {
        guard router.state.withLock({ $0.advertisingSets.removeValue(forKey: token) }) != nil else { return }
        router.post(.cancel, token: token)
        end.finish()
        router.endSubevents(of: token)
    }

    /// Waits until it has ended: it was stopped, its time is over, or it was sent as often as it was to be.
    ///
    /// - Throws: why the controller no longer takes it; what the adapter was closed for; `.cancelled`.
    public func waitUntilEnded() async throws(BluetoothError) {
        _ = try await end.next()
    }
}

extension Adapter {
    /// Advertises a set of its own, beside those of others and beside `advertise(_:)`, and returns when it is on the air.
    ///
    ///     let parameters = AdvertisingParameters(
    ///         isConnectable: false, data: octets, extended: ExtendedAdvertising())
    ///     let set = try await adapter.advertise(set: parameters)
    ///     …
    ///     await set.stop()
    ///
    /// With `extended` there is room for up to 1650 octets, as far as the controller takes them. Scanners before Bluetooth 5.0
    /// and many phones that look for legacy advertising only do not see it.
    ///
    /// - Throws: `.notSupported` for extended advertising, or a second set, on a controller without the extended commands, and for
    ///   PHYs it does not have; `.tooManyPending` for more sets than it has, see `ControllerInformation.advertisingSetCount`;
    ///   `.advertisingDataTooLong`; `.invalidParameters` for a combination that the specification rules out; or why the controller
    ///   refused.
    public func advertise(set parameters: AdvertisingParameters) async throws(BluetoothError) -> AdvertisingSet {
        try router.check()
        guard let token = router.calls.insert(.beginning(nil)) else { throw router.closure }
        let end = AsyncQueue<Never>(capacity: 0, overflow: .dropNewest)
        // Before it is on the air, so that an end that comes at once is not missed.
        router.state.withLock { $0.advertisingSets[token] = end }
        do throws(BluetoothError) {
            try await router.wait(as: token) { router.post(.advertiseSet(parameters), token: token) }
        } catch {
            router.state.withLock { _ = $0.advertisingSets.removeValue(forKey: token) }
            throw error
        }
        return AdvertisingSet(router, token, end)
    }
}

extension EventRouter {
    /// A set has ended by itself.
    func advertisingSetEnded(_ token: CallToken, _ error: HostError?) {
        let end = state.withLock { $0.advertisingSets.removeValue(forKey: token) }
        end?.finish(error.map { runner.error(for: $0) })
        endSubevents(of: token)
    }
}
