import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI

/// The kernel's virtual HCI device, through which a program provides a controller to the kernel.
enum VirtualHCI {
    /// The indicator of the packets that announce a controller. It is specific to the driver and not part of H4.
    private static let vendorPacket: UInt8 = 0xFF
    /// A primary controller; the kernel no longer supports other types.
    private static let primary: UInt8 = 0x00
    /// The number of times to announce a controller if the kernel's first command overtakes its answer.
    private static let attempts = 8

    /// Provides a controller to the kernel and returns the controller's side of HCI. Each read and each write is one
    /// packet. `otherEnd` is the name of the new adapter, `hciN`, which exists until the transport closes.
    ///
    /// The kernel's host stack starts immediately, with Reset. By default only root may open `path`.
    static func open(
        path: String, calls: SocketCalls = .virtualHCI,
        openDevice: (String) throws(Errno) -> Int32 = { path throws(Errno) in try DeviceFile(path).release() }
    ) throws(TransportError) -> sending PacketTransport {
        let name = TransportName.vhci(path: path).description
        for _ in 0..<attempts {
            let descriptor: Int32
            do throws(Errno) {
                descriptor = try openDevice(path)
            } catch {
                let fault = DeviceFault(openingVirtualHCI: path, error)
                let reason: TransportError.Reason =
                    fault.map { .device($0) } ?? .system(call: "open", code: error.code)
                throw TransportError(reason, transport: name)
            }
            do throws(Errno) {
                if let index = try announce(descriptor, calls) {
                    return PacketTransport(
                        name: name, fileDescriptor: descriptor, calls: calls, receiver: .controller,
                        otherEnd: "hci\(index)")
                }
                calls.close(descriptor)
            } catch {
                calls.close(descriptor)
                throw TransportError(.system(call: "announcing a controller", code: error.code), transport: name)
            }
        }
        throw TransportError(.system(call: "announcing a controller", code: EAGAIN), transport: name)
    }

    /// Announces a controller and returns the index that the kernel assigned to it.
    ///
    /// Returns nil if the kernel's first command arrived before the answer, as can happen with older kernels. The
    /// command can't be put back, and the host would never receive a response to it.
    private static func announce(_ descriptor: Int32, _ calls: SocketCalls) throws(Errno) -> UInt16? {
        let request = [vendorPacket, primary]
        try transfer { request.withUnsafeBytes { calls.send(descriptor, $0) } }
        var answer = [UInt8](repeating: 0, count: 512)
        // The answer is in the queue when the request returns, so there is no need to wait.
        let count = try transfer { answer.withUnsafeMutableBytes { calls.receive(descriptor, $0) } }
        guard count == 4, answer[0] == vendorPacket else { return nil }
        return UInt16(answer[2]) | UInt16(answer[3]) << 8
    }

    @discardableResult
    private static func transfer(_ call: () -> Int) throws(Errno) -> Int {
        switch Transfer(call) {
        case .bytes(let count): return count
        case .wouldBlock: throw Errno(EAGAIN)
        case .failed(let error): throw error
        }
    }
}

extension SocketCalls {
    /// The kernel's calls for its virtual HCI device.
    static let virtualHCI = SocketCalls(
        receive: file.receive, send: discarding(ENXIO, file.send), close: file.close)

    /// Returns a send call that discards packets which the kernel rejects with `code`. An adapter that is down accepts
    /// no packets, like a cable to a host that is switched off.
    static func discarding(
        _ code: Int32, _ send: @escaping @Sendable (Int32, UnsafeRawBufferPointer) -> Int
    ) -> @Sendable (Int32, UnsafeRawBufferPointer) -> Int {
        { descriptor, packet in
            let result = send(descriptor, packet)
            return result == -Int(code) ? packet.count : result
        }
    }
}
