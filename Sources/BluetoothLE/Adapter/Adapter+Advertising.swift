import BluetoothUsers
import Synchronization
import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost

extension Adapter {
    /// Starts advertising, and returns when the controller has begun. Advertising continues until `stopAdvertising`. It
    /// also continues after a peer has connected, if the controller supports that.
    ///
    /// A second call replaces the advertisement. If the first call is still pending, it throws `.cancelled`.
    ///
    /// A name that does not fit beside the other data goes into the scan response. The advertisements of several users
    /// of one controller are merged.
    ///
    /// - Parameters:
    ///   - advertisement: the data to advertise. Flags are added if it has none.
    ///   - isConnectable: whether peers may connect.
    ///   - interval: the range from which the controller chooses its interval, 20 ms to 10.24 s.
    ///   - peer: the only device that may connect; nil for any device. Advertising that is directed at one device
    ///     carries no data.
    ///   - peerResolvesAddresses: whether that device's controller resolves private addresses, as its Central Address
    ///     Resolution characteristic states (Core 5.4, Vol 3, Part C, 12.4).
    ///   - duration: how long to advertise; nil for no limit. With the flag `.limitedDiscoverable`, advertising ends
    ///     after 180 seconds at the latest.
    /// - Throws: `.invalidParameters` if `interval` or `duration` is out of range, `.advertisingDataTooLong`, or
    ///   `.refusedByController`.
    public func advertise(
        _ advertisement: AdvertisementData, isConnectable: Bool = true,
        interval: ClosedRange<Duration> = GAPTiming.advertisingFastInterval1, for peer: PeerID? = nil,
        peerResolvesAddresses: Bool = true, duration: Duration? = nil
    ) async throws(BluetoothError) {
        var request = AdvertisingRequest(
            advertisement, isConnectable: isConnectable, interval: interval, peer: peer, duration: duration)
        request.peerResolvesAddresses = peerResolvesAddresses
        try await advertise(request)
    }

    /// Advertises exactly these octets, and otherwise behaves like `advertise(_:)`. While other users of the controller
    /// advertise, the data is merged with theirs.
    ///
    /// - Parameters:
    ///   - data: the advertising data, at most 31 octets.
    ///   - scanResponse: the scan response data, at most 31 octets.
    public func advertise(
        octets data: some Collection<UInt8>, scanResponse: some Collection<UInt8> = [UInt8](),
        isConnectable: Bool = true,
        interval: ClosedRange<Duration> = GAPTiming.advertisingFastInterval1
    ) async throws(BluetoothError) {
        let data = Array(data), scanResponse = Array(scanResponse)
        var request = AdvertisingRequest(
            AdvertisementData(advertisingData: data.span, scanResponseData: scanResponse.span),
            isConnectable: isConnectable, interval: interval)
        request.octets = .init(advertisingData: data, scanResponseData: scanResponse)
        try await advertise(request)
    }

    private func advertise(_ request: AdvertisingRequest) async throws(BluetoothError) {
        try router.check()
        guard let token = router.calls.insert(.beginning(nil)) else { throw router.closure }
        let former = router.state.withLock { state in
            defer { state.advertising = token }
            return state.advertising
        }
        do throws(BluetoothError) {
            try await router.wait(as: token) { router.post(.advertise(request), token: token) }
        } catch {
            // A request that fails does not replace the previous advertisement, which `stopAdvertising` must still be
            // able to end.
            router.state.withLock { if $0.advertising == token { $0.advertising = former } }
            throw error
        }
    }

    /// Stops advertising. A pending call of `advertise` throws `.cancelled`. Does nothing if the adapter is not
    /// advertising.
    ///
    /// This method does not wait for the controller, so a peer may still connect a moment later.
    public func stopAdvertising() {
        guard let token = router.state.withLock({ $0.advertising.take() }) else { return }
        router.post(.cancel, token: token)
    }
}
