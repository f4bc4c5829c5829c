import BluetoothBase
import BluetoothGAP
import BluetoothHost

extension Adapter {
    /// Advertises until `stopAdvertising`, and returns when the controller has begun. A second call replaces what is
    /// advertised, and ends the first with `.cancelled` where that is still pending. Advertising goes on after a peer has connected, as far as the controller can.
    ///
    /// A name that does not fit beside the rest goes into the scan response.
    ///
    /// - Parameters:
    ///   - advertisement: what to tell; flags are added where there are none.
    ///   - isConnectable: whether peers may connect.
    ///   - interval: the range the controller takes its interval from, 20 ms to 10.24 s.
    /// - Throws: `.advertisingDataTooLong`, or why the controller refused.
    public func advertise(
        _ advertisement: AdvertisementData, isConnectable: Bool = true,
        interval: ClosedRange<Duration> = GAPTiming.advertisingFastInterval1
    ) async throws(BluetoothError) {
        try checkOpen()
        var advertisement = advertisement
        if advertisement.flags == nil { advertisement.flags = [.generalDiscoverable, .brEDRNotSupported] }
        let payload: AdvertisingPayload
        do throws(AdvertisingPayloadError) {
            payload = try AdvertisingPayload(advertisement)
        } catch {
            throw .advertisingDataTooLong("\(error)")
        }
        let parameters = AdvertisingParameters(
            isConnectable: isConnectable, interval: interval, data: payload.advertisingData,
            scanResponse: payload.scanResponseData)
        do throws(HostError) {
            try host.startAdvertising(parameters, at: now)
        } catch {
            throw .host(error)
        }
        resumeAdvertising(with: .failure(.cancelled))
        try await wait(for: .advertising(makeNumber())) { adapter in
            adapter.host.stopAdvertising(at: adapter.now)
        }
    }

    public func stopAdvertising() {
        host.stopAdvertising(at: now)
        resumeAdvertising(with: .failure(.cancelled))
    }

    func resumeAdvertising(with result: Result<Answer, BluetoothError>) {
        resumeAll(
            where: {
                if case .advertising = $0 { true } else { false }
            }, with: result)
    }
}
