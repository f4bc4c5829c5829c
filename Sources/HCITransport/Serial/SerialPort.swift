import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI

/// Opens serial lines in raw mode, at any baud rate, for one program at a time.
enum SerialPort {
    /// Opens a line for the side of HCI given by `receiver`.
    ///
    /// Bytes already received are discarded. Closing restores the line's settings and discards the output that the
    /// device has not accepted by then, because waiting for it could take forever. A line that hangs up was unplugged;
    /// this is reported as `.adapterRemoved`.
    static func open(
        _ line: SerialLine, as receiver: H4Framer.Receiver
    ) throws(TransportError) -> sending StreamTransport {
        let name = TransportName.serial(line).description
        let actual: UInt32
        do throws(Errno) {
            let file = try DeviceFile(line.device)
            let settings = try own(file.fileDescriptor)
            actual = try setUp(line, on: file.fileDescriptor, restoring: settings)
            if isCloseEnough(actual, to: line.baudRate) {
                return transport(name, on: file.release(), as: receiver, line, restoring: settings)
            }
            restore(settings, of: file.fileDescriptor)
        } catch {
            let fault = DeviceFault(openingSerialDevice: line.device, error)
            throw TransportError(fault.map { .device($0) } ?? .system(call: "open", code: error.code), transport: name)
        }
        throw TransportError(.device(.baudRateNotSupported(line.baudRate, actual: actual)), transport: name)
    }

    /// Takes exclusive use of a terminal, and returns its settings.
    private static func own(_ descriptor: Int32) throws(Errno) -> TerminalSettings {
        let settings = try TerminalSettings(of: descriptor)
        // By convention programs take the lock, and it ends with the process. The flag also excludes programs that
        // ignore locks. It isn't set on a pseudo-terminal, where it would outlive this process while the other end is
        // held open.
        try Errno.check { flock(descriptor, LOCK_EX | LOCK_NB) }
        if try !isPseudoTerminal(descriptor) { try Errno.check { cbt_terminal_set_exclusive(descriptor, 1) } }
        return settings
    }

    /// Configures a terminal for raw bytes and discards pending input. Returns the actual baud rate.
    private static func setUp(
        _ line: SerialLine, on descriptor: Int32, restoring settings: TerminalSettings
    ) throws(Errno) -> UInt32 {
        do throws(Errno) {
            try settings.raw(baudRate: line.baudRate, usesFlowControl: line.usesFlowControl).apply(to: descriptor)
            let baudRate = try TerminalSettings(of: descriptor).baudRate
            try Errno.check { tcflush(descriptor, TCIFLUSH) }
            return baudRate
        } catch {
            restore(settings, of: descriptor)
            throw error
        }
    }

    private static func transport(
        _ name: String, on descriptor: Int32, as receiver: H4Framer.Receiver, _ line: SerialLine,
        restoring settings: TerminalSettings
    ) -> StreamTransport {
        var calls = SocketCalls.terminal
        calls.close = { descriptor in
            tcflush(descriptor, TCOFLUSH)
            restore(settings, of: descriptor)
            _ = BluetoothPlatform.close(descriptor)
        }
        return StreamTransport(
            name: name, fileDescriptor: descriptor, receiver: receiver, calls: calls,
            synchronizer: ResetSynchronizer(receiver: receiver, sendsZeros: line.resynchronizes),
            ending: .adapterRemoved)
    }

    /// Restores a line for other programs. Errors are ignored, because the line may have been unplugged.
    ///
    /// The lock is released before the descriptor is closed. A child process that is just being started has a copy of
    /// the descriptor until it executes its program, and would keep the lock until then.
    private static func restore(_ settings: TerminalSettings, of descriptor: Int32) {
        try? settings.apply(to: descriptor)
        _ = cbt_terminal_set_exclusive(descriptor, 0)
        _ = flock(descriptor, LOCK_UN)
    }

    /// Receivers sample in the middle of a bit, so over the ten bits of a character the two sides must not drift apart
    /// by half a bit or more.
    static func isCloseEnough(_ rate: UInt32, to wanted: UInt32) -> Bool {
        let difference = rate > wanted ? rate - wanted : wanted - rate
        return UInt64(difference) * 100 <= UInt64(wanted) * 3
    }

    /// Whether a descriptor refers to `/dev/pts/N`. Those have the major device numbers 136 to 143.
    private static func isPseudoTerminal(_ descriptor: Int32) throws(Errno) -> Bool {
        var status = stat()
        try Errno.check { fstat(descriptor, &status) }
        return (136...143).contains(status.st_rdev >> 8 & 0xFFF)
    }
}

extension SocketCalls {
    /// The kernel's calls for terminals. Reading from a terminal that has hung up returns end of file, and writing to
    /// it fails with `EPIPE`.
    static let terminal = SocketCalls(
        receive: { descriptor, buffer in
            let result = file.receive(descriptor, buffer)
            return result == -Int(EIO) ? 0 : result
        },
        send: { descriptor, bytes in
            let result = file.send(descriptor, bytes)
            return result == -Int(EIO) ? -Int(EPIPE) : result
        },
        close: file.close)
}
