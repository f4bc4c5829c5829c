import BluetoothBase
import BluetoothHCI
import BluetoothTrace
import BluetoothCommandLine
import HCITransport

extension RadioServer {
    /// Wraps a host as the options require. Packets are recorded and shown on the side of the host. Faults occur
    /// between that and the controller.
    func decorated(
        _ host: any HCITransport, of port: inout RadioPort, at index: Int
    ) throws(TransportError) -> any HCITransport {
        var host = host
        if let capture { host = CapturedTransport(host, to: capture, adapter: UInt16(clamping: index)) }
        if options.isTraced { host = traced(host, of: port) }
        guard let faults = port.nextFaults() else { return host }
        let name = port.name, isVerbose = options.isVerbose
        return try FaultyTransport(host, faults) { fault in
            if isVerbose { say("\(name): \(fault)") }
        }
    }

    /// A host whose packets are shown, with the time since the radio was started.
    private func traced(_ host: any HCITransport, of port: RadioPort) -> any HCITransport {
        var tracer = PacketTracer()
        let name = port.name, start = start
        return TracedTransport(host) { packet, receiver in
            let time = Instant.zero.advanced(by: start.duration(to: MonotonicClock.now))
            say(
                "\(name) "
                    + tracer.line(
                        for: packet, direction: receiver == .host ? .controllerToHost : .hostToController, at: time))
        }
    }
}
