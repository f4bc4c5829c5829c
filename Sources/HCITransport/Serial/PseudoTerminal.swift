import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI

/// A pair of connected virtual terminals. This process has one end, and another program opens the other end like a
/// serial line.
enum PseudoTerminal {
    /// Creates a pair and opens one end for the side of HCI given by `receiver`. The transport's `otherEnd` names the
    /// other end, which may be opened and closed any number of times.
    ///
    /// `link` is the path of a symbolic link to the other end; closing removes it.
    static func open(link: String?, as receiver: H4Framer.Receiver) throws(TransportError) -> sending StreamTransport {
        let name = TransportName.pty(link: link).description
        var call = "open /dev/ptmx"
        do throws(Errno) {
            let file = try DeviceFile("/dev/ptmx")
            let descriptor = file.fileDescriptor
            let path = "/dev/pts/\(try Errno.check { cbt_terminal_unlock(descriptor) })"
            // This process also keeps the other end open, because closing its last descriptor would hang up. So the
            // pair outlives the programs that open it.
            let other = try DeviceFile(path)
            let settings = try TerminalSettings(of: other.fileDescriptor)
            try settings.raw(baudRate: settings.baudRate, usesFlowControl: false).apply(to: other.fileDescriptor)
            call = "symlink"
            if let link { try make(link, to: path) }
            let held = other.release()
            var calls = SocketCalls.terminal
            calls.close = { descriptor in
                if let link { remove(link, to: path) }
                _ = BluetoothPlatform.close(held)
                _ = BluetoothPlatform.close(descriptor)
            }
            return StreamTransport(
                name: name, fileDescriptor: file.release(), receiver: receiver, calls: calls,
                // The limit is low because there may be no reader, and old output is useless to the next one.
                outputLimit: 1 << 17, otherEnd: "serial:\(path)", synchronizer: ResetSynchronizer(receiver: receiver))
        } catch {
            let reason: TransportError.Reason =
                error.code == EEXIST ? .device(.linkTaken) : .system(call: call, code: error.code)
            throw TransportError(reason, transport: name)
        }
    }

    /// Creates a symbolic link, replacing one left behind by a crash. Throws `EEXIST` if anything else exists at the
    /// path.
    private static func make(_ link: String, to path: String) throws(Errno) {
        do throws(Errno) {
            try Errno.check { symlink(path, link) }
        } catch {
            guard error.code == EEXIST, let target = target(of: link) else { throw error }
            // The numbers of terminals are reused: the old link may point to the new terminal.
            if target == path { return }
            guard target.hasPrefix("/dev/pts/"), access(target, F_OK) != 0, unlink(link) == 0 else { throw error }
            try Errno.check { symlink(path, link) }
        }
    }

    /// Removes a symbolic link, unless it has been replaced by something else.
    private static func remove(_ link: String, to path: String) {
        if target(of: link) == path { unlink(link) }
    }

    /// The target of a symbolic link; nil if the path is not a link.
    private static func target(of link: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &target, target.count)
        guard length > 0 else { return nil }
        return String(decoding: target.prefix(length).map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
}
