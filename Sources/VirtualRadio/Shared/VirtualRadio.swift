import BluetoothBase
import BluetoothHCI
import Synchronization

/// A radio in this process: an `Air` and its time, which several threads can share.
///
///     let radio = VirtualRadio()
///     let phone = try await Adapter.open(radio.addController())
///     let sensor = try await Adapter.open(radio.addController())
///
/// To test firmware protocols packet by packet against a bare controller, use `Port`.
public final class VirtualRadio: Sendable {
    /// The source of time.
    public enum Time: Sendable {
        /// The system's clock.
        case system
        /// Advances only through `advance(by:)` and `advanceHosts(by:)`: 30 s on the air take no real time, and the
        /// result is always the same.
        case manual
    }

    struct State {
        var air: Air
        var now = Instant.zero
        var nextAddress: UInt64 = 0x00_1B_DC_00_00_01
        var hosts: [ControllerID: any PacketPortHost] = [:]
        /// The number of attachments so far, and the current attachment of each controller.
        var attachments: UInt64 = 0
        var current: [ControllerID: UInt64] = [:]

        /// The actions that are scheduled, earliest first. With the system's time, Dispatch has them.
        var actions: [(instant: Instant, perform: @Sendable () -> Void)] = []
        /// The weather, and the number of the last one.
        var weather: AirWeather?
        var weatherNumber = 0

        /// The hosts with pending packets, in the order of their controllers.
        var waiting: [any PacketPortHost] {
            hosts.filter { !air[$0.key].outbox.isEmpty }.sorted { $0.key.index < $1.key.index }.map(\.value)
        }
    }

    /// The source of the radio's time.
    public let time: Time
    let state: Mutex<State>
    let turns = HostTurns()

    /// The radio of the transport named `virtual`.
    public static let shared = VirtualRadio()

    /// Creates a radio without controllers.
    ///
    /// - Parameters:
    ///   - time: the source of time.
    ///   - seed: the seed of all pseudo-random bits on the air.
    public init(time: Time = .system, seed: UInt64 = 1) {
        self.time = time
        state = Mutex(State(air: Air(seed: seed)))
    }

    /// The current time on the air.
    public var now: Instant {
        switch time {
        case .system: SystemTime.now
        case .manual: state.withLock { $0.now }
        }
    }

    // MARK: - Controllers

    /// Adds a controller.
    ///
    /// - Parameter configure: changes the controller's properties. By default, `ControllerConfiguration` applies, with
    ///   a unique public address.
    public func addController(_ configure: (inout ControllerConfiguration) -> Void = { _ in }) -> Port {
        let identifier = state.withLock { state in
            let address = DeviceAddress(state.nextAddress, kind: .public)
            state.nextAddress += 1
            var configuration = ControllerConfiguration(publicAddress: address)
            configure(&configuration)
            return state.air.addController(configuration)
        }
        return Port(radio: self, identifier: identifier)
    }

    /// Changes the air at the current instant, for example its path loss or a fault.
    @discardableResult
    public func withAir<Value: Sendable>(_ body: (_ air: inout Air, _ now: Instant) -> Value) -> Value {
        withAir(for: nil) { state, now in body(&state.air, now) }
    }

    /// Changes the air, and wakes every host affected.
    ///
    /// - Parameter identifier: the controller of the host that makes the change, if any. That host handles the next
    ///   deadline itself; without one, all other hosts are woken to handle it.
    func withAir<Value: Sendable>(
        for identifier: ControllerID?, _ body: (_ state: inout State, _ now: Instant) -> Value
    ) -> Value {
        let (value, hosts) = state.withLock { state in
            // Read in here, so that time does not run backwards from one caller to the next.
            let now = time == .manual ? state.now : SystemTime.now
            state.air.fire(at: now)
            let deadline = state.air.nextDeadline
            let value = body(&state, now)
            let isMinded = identifier.map { state.hosts[$0] != nil } ?? false
            if !isMinded, earliest(deadline, state.air.nextDeadline) != deadline {
                return (value, Array(state.hosts.values))
            }
            return (value, state.waiting)
        }
        call(hosts)
        return value
    }

    /// Makes hosts process their pending packets.
    func call(_ hosts: [any PacketPortHost]) {
        for host in hosts {
            switch time {
            case .system: host.wake()
            case .manual: turns.request(host)
            }
        }
    }

    /// Sets the path loss between two controllers, in dB, in both directions. Beyond about 95 dB they do not receive
    /// each other.
    public func setPathLoss(between first: Port, and second: Port, to loss: Int) {
        withAir { air, now in
            air.setPathLoss(between: first.identifier, and: second.identifier, to: loss, at: now)
        }
    }

    /// Sets the transmit power of a controller, in dBm, limited to the maximum in its configuration.
    public func setTransmitPower(of port: Port, to power: Int8) {
        withAir { air, now in air.setTransmitPower(of: port.identifier, to: power, at: now) }
    }
}
