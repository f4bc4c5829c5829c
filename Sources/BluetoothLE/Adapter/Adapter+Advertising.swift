import BluetoothUsers
import Synchronization
import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost

extension Adapter {
    /// Advertises until `stopAdvertising`, and returns when the controller has begun. A second call replaces the
    /// advertisement, and ends the first with `.cancelled` if that is still pending. Advertising continues after a peer
    /// has connected, if the controller can do that.
    ///
    /// A name that does not fit beside the rest goes into the scan response. What several users of one controller
    /// advertise is merged.
    ///
    /// - Parameters:
    ///   - advertisement: the data to advertise; flags are added if there are none.
    ///   - isConnectable: whether peers may connect.
    ///   - interval: the range the controller takes its interval from, 20 ms to 10.24 s.
    ///   - peer: the one device that may connect; nil for all. What is advertised for one device carries no data.
    ///   - peerResolvesAddresses: whether that device's controller resolves private addresses, as its Central Address Resolution
    ///     characteristic says (Core 5.4, Vol 3, Part C, 12.4).
    ///   - duration: after how long it ends; nil for not by itself. With the flag `.limitedDiscoverable` it ends after 180
    ///     seconds at most.
    /// - Throws: `.advertisingDataTooLong`, or why the controller refused.
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

    /// Advertises these octets, exactly as they are, otherwise as `advertise(_:)` does. While other users of the controller
    /// advertise, what the octets say is merged with theirs.
    ///
    /// - Parameters:
    ///   - data: the advertising data, at most 31 octets.
    ///   - scanResponse: the scan response data, at most 31 octets.
    public func advertise(
        octets data: [UInt8], scanResponse: [UInt8] = [], isConnectable: Bool = true,
        interval: ClosedRange<Duration> = GAPTiming.advertisingFastInterval1
    ) async throws(BluetoothError) {
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
            // What was refused at once has not replaced the one before, which `stopAdvertising` still has to end.
            router.state.withLock { if $0.advertising == token { $0.advertising = former } }
            throw error
        }
    }

    /// Ends advertising; a call of `advertise` that is pending throws `.cancelled`. Does nothing if not advertising. It does not
    /// wait for the controller, so a peer may still connect a moment later.
    public func stopAdvertising() async {
        guard let token = router.state.withLock({ $0.advertising.take() }) else { return }
        router.post(.cancel, token: token)
    }
}
