import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import Synchronization

/// An advertising set. It is advertised beside all other advertising until it is stopped, its duration ends, or the
/// adapter is closed.
///
/// The set continues after a peer has connected through it, and after the controller was reset or plugged in again.
public struct AdvertisingSet: Sendable {
    let router: EventRouter
    let token: CallToken
    private let end: AsyncQueue<Never>

    fileprivate init(_ router: EventRouter, _ token: CallToken, _ end: AsyncQueue<Never>) {
        self.router = router
        self.token = token
        self.end = end
    }

    /// Stops the set. Does nothing if it has already ended.
    public func stop() {
        guard router.state.withLock({ $0.advertisingSets.removeValue(forKey: token) }) != nil else { return }
        router.post(.cancel, token: token)
        end.finish()
        router.endSubevents(of: token)
    }

    /// Waits until the set has ended: it was stopped, its duration is over, or its maximum number of advertising events
    /// was sent.
    ///
    /// - Throws: the reason why the controller no longer advertises the set, the reason why the adapter was closed, or
    ///   `.cancelled`.
    public func waitUntilEnded() async throws(BluetoothError) {
        _ = try await end.next()
    }
}

extension Adapter {
    /// Adds an advertising set, beside those of other users and beside `advertise(_:)`, and returns when it is on the
    /// air.
    ///
    ///     let parameters = AdvertisingParameters(
    ///         isConnectable: false, data: octets, extended: ExtendedAdvertising())
    ///     let set = try await adapter.addAdvertisingSet(parameters)
    ///     …
    ///     set.stop()
    ///
    /// With `extended`, a set has room for up to 1650 octets, as far as the controller supports that. Scanners older
    /// than Bluetooth 5.0 do not receive extended advertising, nor do the many phones that scan only for legacy
    /// advertising.
    ///
    /// - Throws: `.notSupported` for extended advertising, or for a second set, on a controller without the extended
    ///   advertising commands, and for PHYs that the controller lacks; `.tooManyPending` for more sets than the
    ///   controller has, see `ControllerInformation.advertisingSetCount`; `.advertisingDataTooLong`;
    ///   `.invalidParameters` for a combination that the specification does not allow; or `.refusedByController`.
    public func addAdvertisingSet(_ parameters: AdvertisingParameters) async throws(BluetoothError) -> AdvertisingSet {
        try router.check()
        guard let token = router.calls.insert(.beginning(nil)) else { throw router.closure }
        let end = AsyncQueue<Never>(capacity: 0, overflow: .dropNewest)
        // Before the set is on the air, so that an immediate end is not missed.
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
    /// A set has ended without being stopped.
    func advertisingSetEnded(_ token: CallToken, _ error: HostError?) {
        let end = state.withLock { $0.advertisingSets.removeValue(forKey: token) }
        end?.finish(error.map { runner.error(for: $0) })
        endSubevents(of: token)
    }
}
