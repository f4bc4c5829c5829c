import BluetoothLE
import GatewayMQTT
import GatewayPipeline
import Synchronization

/// Where sources, pipeline and sink meet. What adapters receive passes through one at a time, so that a device's messages
/// are in order whoever has heard it.
public final class Hub: Sendable {
    private struct State {
        var pipeline: Pipeline
        var preset: any Preset
        var listen: (@Sendable (Reception) -> Void)?
    }

    private let state: Mutex<State>
    private let sink: any Sink
    private let clock: GatewayClock
    private let filter: DeviceFilter

    public init(_ settings: PipelineSettings, _ preset: any Preset, sink: any Sink, clock: GatewayClock) {
        state = Mutex(State(pipeline: Pipeline(settings), preset: preset))
        self.sink = sink
        self.clock = clock
        filter = settings.filter
    }

    /// Hands over every packet of the devices that the gateway listens to, before it goes through the pipeline.
    func listen(_ body: @escaping @Sendable (Reception) -> Void) { state.withLock { $0.listen = body } }

    /// Takes in what an adapter has received.
    func receive(_ sighting: Sighting, adapter: String) {
        let reception = Reception(
            adapter: adapter, address: sighting.address, identity: sighting.peer.firstAddress, rssi: sighting.rssi,
            isConnectable: sighting.isConnectable, advertisingData: sighting.advertisingData,
            scanResponseData: sighting.scanResponseData, instant: clock.instant())
        receive(reception)
    }

    /// Takes in values that were read from a device.
    func receive(_ fields: [AdvertisedField], of device: DeviceAddress) {
        pass { $0.receive(fields, of: device, at: clock.instant(), clock.wall()) }
    }

    /// Whether a device was heard lately.
    func knows(_ device: DeviceAddress) -> Bool { state.withLock { $0.pipeline.knows(device) } }

    /// Does what is due.
    func advance() {
        pass { $0.advance(to: clock.instant(), at: clock.wall()) }
    }

    /// Tells what was held up: nothing more will come.
    func finish() {
        pass { $0.finish(at: clock.wall()) }
    }

    /// Takes in what somebody else has received.
    func receive(_ reception: Reception) {
        if let listen = state.withLock({ $0.listen }), filter.accepts(reception) { listen(reception) }
        pass { $0.receive(reception, at: clock.wall()) }
    }

    /// The broker may have lost what it was told.
    public func forget() { state.withLock { $0.preset.forget() } }

    var counters: (PipelineCounters, devices: Int) {
        state.withLock { ($0.pipeline.counters, $0.pipeline.deviceCount) }
    }

    /// What is told is handed over before the next packet comes in: the sink only takes it.
    private func pass(_ body: (inout Pipeline) -> [Report]) {
        state.withLock { state in
            let reports = body(&state.pipeline)
            guard !reports.isEmpty else { return }
            sink.take(reports.flatMap { state.preset.publications(for: $0) })
        }
    }
}
