import BluetoothBase
import BluetoothHCI
import TestSupport
import VirtualRadio

/// Two controllers on one air, and a clock that a test advances.
struct Bench {
    static let centralAddress = DeviceAddress(0x0000_0000_00C0, kind: .public)
    static let peripheralAddress = DeviceAddress(0x0000_0000_00A0, kind: .public)

    var air: Air
    var now = Instant(nanoseconds: 1_000_000_000)
    let central: ControllerID
    let peripheral: ControllerID

    init(
        seed: UInt64 = 1, central configureCentral: (inout ControllerConfiguration) -> Void = { _ in },
        peripheral configurePeripheral: (inout ControllerConfiguration) -> Void = { _ in }
    ) {
        var first = ControllerConfiguration(publicAddress: Self.centralAddress)
        var second = ControllerConfiguration(publicAddress: Self.peripheralAddress)
        configureCentral(&first)
        configurePeripheral(&second)
        air = Air(seed: seed)
        central = air.addController(first)
        peripheral = air.addController(second)
    }

    // MARK: - In

    mutating func send(_ packet: [UInt8], from id: ControllerID) {
        air.receive(packet.span, from: id, at: now)
    }

    /// Sends a packet written in hexadecimal, its H4 indicator first.
    mutating func send(_ text: String, from id: ControllerID) {
        send(bytes(text), from: id)
    }

    mutating func send(_ command: some HCICommand, from id: ControllerID) {
        send(written { command.encodePacket(into: &$0) }, from: id)
    }

    /// Sends commands whose answers a test ignores.
    mutating func prepare(_ id: ControllerID, _ commands: (any HCICommand)...) {
        for command in commands { send(command, from: id) }
        _ = received(by: id)
    }

    /// Lets time pass, stopping at every deadline on the way.
    mutating func run(_ duration: Duration) {
        let end = now.advanced(by: duration)
        while let deadline = air.nextDeadline, deadline <= end {
            now = max(now, deadline)
            air.fire(at: now)
        }
        now = end
    }

    // MARK: - Out

    /// The packets to the host of a controller since the last call, in hexadecimal.
    mutating func received(by id: ControllerID) -> [String] {
        var packets: [String] = []
        while let packet = air[id].outbox.popFirst() { packets.append(packet.hexadecimal()) }
        return packets
    }

    /// The answer to one command.
    mutating func answer(to text: String, from id: ControllerID) -> String {
        send(text, from: id)
        return received(by: id).joined(separator: "; ")
    }

    mutating func answer(to command: some HCICommand, from id: ControllerID) -> String {
        send(command, from: id)
        return received(by: id).joined(separator: "; ")
    }
}

extension Bench {
    static let allEvents = LEEventMask(rawValue: 0x1F_FDFF)

    /// Lets both hosts see every event, but for Enhanced Connection Complete.
    mutating func unmask() {
        for id in [central, peripheral] {
            prepare(
                id, SetEventMask(eventMask: EventMask(rawValue: .max)), LESetEventMask(eventMask: Self.allEvents))
        }
    }

    mutating func startAdvertising(
        _ parameters: LESetAdvertisingParameters = LESetAdvertisingParameters(
            intervalMin: LESlots(rawValue: 0xA0), intervalMax: LESlots(rawValue: 0xA0))
    ) {
        prepare(peripheral, parameters, LESetAdvertisingEnable(isEnabled: true))
    }

    static func connectionParameters(
        interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 100
    ) -> LEConnectionParameters {
        LEConnectionParameters(
            intervalMin: ConnectionInterval(rawValue: interval), intervalMax: ConnectionInterval(rawValue: interval),
            maxLatency: latency, supervisionTimeout: SupervisionTimeout(rawValue: timeout))
    }

    static func createConnection(
        to peer: DeviceAddress = peripheralAddress, with parameters: LEConnectionParameters = connectionParameters()
    ) -> LECreateConnection {
        LECreateConnection(
            scanInterval: LESlots(rawValue: 0x10), scanWindow: LESlots(rawValue: 0x10), peerAddress: peer,
            connectionParameters: parameters)
    }

    /// Connects the two, by default with a connection interval of 30 ms. The handle is 0x0040 on both sides. The clock
    /// is then at a connection event, the third.
    mutating func connect(_ parameters: LEConnectionParameters = connectionParameters()) {
        unmask()
        prepare(central, Self.createConnection(with: parameters))
        startAdvertising()
        run(.microseconds(2500) + parameters.intervalMin.duration * 2)
        _ = received(by: central)
        _ = received(by: peripheral)
    }
}
