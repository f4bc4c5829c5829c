import BluetoothLE
import BluetoothValues
import GatewayMQTT
import GatewayPipeline
import Synchronization

/// Connects sources, pipeline and sink. Packets pass through one at a time, so that a device's messages are in order,
/// whichever adapter has heard it.
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

    /// Creates a hub with a new pipeline, whose reports the preset converts to messages for the sink.
    public init(_ settings: PipelineSettings, _ preset: any Preset, sink: any Sink, clock: GatewayClock) {
        state = Mutex(State(pipeline: Pipeline(settings), preset: preset))
        self.sink = sink
        self.clock = clock
        filter = settings.filter
    }

    /// Calls a function with every packet from the devices that the gateway listens to, before the pipeline processes
    /// it.
    func listen(_ body: @escaping @Sendable (Reception) -> Void) { state.withLock { $0.listen = body } }

    /// Processes a packet that an adapter has received.
    func receive(_ sighting: Sighting, adapter: String) {
        let reception = Reception(
            adapter: adapter, address: sighting.address, identity: sighting.peer.firstAddress, rssi: sighting.rssi,
            isConnectable: sighting.isConnectable, advertisingData: sighting.advertisingData,
            scanResponseData: sighting.scanResponseData, instant: clock.instant())
        receive(reception)
    }

    /// Processes values that were read from a device.
    func receive(_ fields: [AdvertisedField], of device: DeviceAddress) {
        pass { $0.receive(fields, of: device, at: clock.instant(), clock.wall()) }
    }

    /// Whether a device was heard recently.
    func knows(_ device: DeviceAddress) -> Bool { state.withLock { $0.pipeline.knows(device) } }

    /// Performs the work that is due.
    func advance() {
        pass { $0.advance(to: clock.instant(), at: clock.wall()) }
    }

    /// Publishes delayed reports. Called when no more packets will follow.
    func finish() {
        pass { $0.finish(at: clock.wall()) }
    }

    /// Processes a packet from any source.
    func receive(_ reception: Reception) {
        if let listen = state.withLock({ $0.listen }), filter.accepts(reception) { listen(reception) }
        pass { $0.receive(reception, at: clock.wall()) }
    }

    /// Causes announcements to be sent again, because the broker may have lost them.
    public func forget() { state.withLock { $0.preset.forget() } }

    var counters: (PipelineCounters, devices: Int) {
        state.withLock { ($0.pipeline.counters, $0.pipeline.deviceCount) }
    }

    /// Hands over reports before the next packet is processed. The sink accepts them without blocking.
    private func pass(_ body: (inout Pipeline) -> [Report]) {
        state.withLock { state in
            let reports = body(&state.pipeline)
            guard !reports.isEmpty else { return }
            sink.take(reports.flatMap { state.preset.publications(for: $0) })
        }
    }
}
