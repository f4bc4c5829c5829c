import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI

/// How a serial line is opened: raw, at any baud rate, and for one program at a time.
enum SerialPort {
    /// Opens a line for the side of HCI given by `receiver`.
    ///
    /// Bytes already in transit are discarded. Closing restores the line's settings and discards what the device has
    /// not accepted by then, because waiting for it could take forever. A line that hangs up was unplugged:
    /// `.adapterRemoved`.
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
        // Programs use the lock by convention, and it ends with the process. The flag also excludes programs that
        // ignore locks, but if the other end of a pseudo-terminal is held open, the flag would outlive this process.
        try Errno.check { flock(descriptor, LOCK_EX | LOCK_NB) }
        if try !isPseudoTerminal(descriptor) { try Errno.check { cbt_terminal_set_exclusive(descriptor, 1) } }
        return settings
    }

    /// Configures a terminal for raw bytes, and discards pending ones. Returns the actual baud rate.
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

    /// Restores a line for other programs. It may be gone, and then there is nothing to restore.
    ///
    /// The lock is given back before the descriptor is closed: a process that is just being started has a copy of the
    /// descriptor until it runs its program, and would keep the lock as long.
    private static func restore(_ settings: TerminalSettings, of descriptor: Int32) {
        try? settings.apply(to: descriptor)
        _ = cbt_terminal_set_exclusive(descriptor, 0)
        _ = flock(descriptor, LOCK_UN)
    }

    /// Receivers sample in the middle of a bit: over the ten bits of a character, the two sides must not drift apart by
    /// half a bit or more.
    static func isCloseEnough(_ rate: UInt32, to wanted: UInt32) -> Bool {
        let difference = rate > wanted ? rate - wanted : wanted - rate
        return UInt64(difference) * 100 <= UInt64(wanted) * 3
    }

    /// Whether a descriptor is of `/dev/pts/N`; those have the major device numbers 136 to 143.
    private static func isPseudoTerminal(_ descriptor: Int32) throws(Errno) -> Bool {
        var status = stat()
        try Errno.check { fstat(descriptor, &status) }
        return (136...143).contains(status.st_rdev >> 8 & 0xFFF)
    }
}

extension SocketCalls {
    /// The kernel's calls, for terminals. A terminal that was hung up reads as end of file, and writing to it is an
    /// error.
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
