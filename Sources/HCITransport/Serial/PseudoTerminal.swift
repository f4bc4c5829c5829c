import BluetoothHCI
import CBluetoothHCI
import Glibc

/// A pair of terminals made of software: this process has one end, and another program opens the other as it would a
/// serial line.
enum PseudoTerminal {
    /// Makes a pair, and takes one end as the end of HCI that `receiver` is. `otherEnd` of the transport names the
    /// other, which may be opened and closed again and again.
    ///
    /// `link` is where a symbolic link to the other end is made; closing removes it.
    static func open(link: String?, as receiver: H4Framer.Receiver) throws(TransportError) -> sending StreamTransport {
        let name = TransportName.pty(link: link).description
        var call = "open /dev/ptmx"
        do throws(Errno) {
            let file = try DeviceFile("/dev/ptmx")
            let descriptor = file.fileDescriptor
            let path = "/dev/pts/\(try Errno.check { cbt_terminal_unlock(descriptor) })"
            // Held open, so that the pair outlives whoever opens it: the last to close the other end would hang up.
            let other = try DeviceFile(path)
            let settings = try TerminalSettings(of: other.fileDescriptor)
            try settings.raw(baudRate: settings.baudRate, usesFlowControl: false).apply(to: other.fileDescriptor)
            call = "symlink"
            if let link { try make(link, to: path) }
            let held = other.release()
            var calls = SocketCalls.terminal
            calls.close = { descriptor in
                if let link { remove(link, to: path) }
                _ = Glibc.close(held)
                _ = Glibc.close(descriptor)
            }
            return StreamTransport(
                name: name, fileDescriptor: file.release(), receiver: receiver, calls: calls,
                // Nobody may be there to read: what waits for the next who comes is of no use to him.
                outputLimit: 1 << 17, otherEnd: "serial:\(path)", synchronizer: ResetSynchronizer(receiver: receiver))
        } catch {
            let reason: TransportError.Reason =
                error.code == EEXIST ? .device(.linkTaken) : .system(call: call, code: error.code)
            throw TransportError(reason, transport: name)
        }
    }

    /// Makes a symbolic link, in the place of one that a crash has left behind. Throws `EEXIST` where anything else is
    /// there.
    private static func make(_ link: String, to path: String) throws(Errno) {
        do throws(Errno) {
            try Errno.check { symlink(path, link) }
        } catch {
            guard error.code == EEXIST, let target = target(of: link) else { throw error }
            // The numbers of terminals are used again: the old link may lead to the new one.
            if target == path { return }
            guard target.hasPrefix("/dev/pts/"), access(target, F_OK) != 0, unlink(link) == 0 else { throw error }
            try Errno.check { symlink(path, link) }
        }
    }

    /// Removes a symbolic link, unless somebody has put something else in its place.
    private static func remove(_ link: String, to path: String) {
        if target(of: link) == path { unlink(link) }
    }

    /// Where a symbolic link leads to; nil for what is no link.
    private static func target(of link: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &target, target.count)
        guard length > 0 else { return nil }
        return String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
