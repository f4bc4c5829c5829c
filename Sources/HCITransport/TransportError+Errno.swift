import CBluetoothHCI
import Glibc

extension TransportError.Reason {
    /// What it means that reading from, or writing to, an open transport failed; `end` stands for the other side being
    /// gone.
    init(transferring error: Errno, call: String, end: Self = .closedByPeer) {
        switch error.code {
        case EPIPE, ECONNRESET, ECONNABORTED, ENOTCONN, ESHUTDOWN, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETRESET,
            ENETDOWN, ENODEV, ENXIO:
            self = end
        default: self = .system(call: call, code: error.code)
        }
    }

    /// What it means that a connection could not be made.
    init(connecting error: Errno) {
        switch error.code {
        // A local socket without a file, or whose queue of connections is full, answers so too.
        case ECONNREFUSED, ENOENT, EAGAIN: self = .connectionRefused
        case ETIMEDOUT: self = .timedOut
        case EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL: self = .unreachable(detail: error.text)
        default: self = .system(call: "connect", code: error.code)
        }
    }

    /// What it means that an address could not be listened on.
    init(listening error: Errno) {
        switch error.code {
        case EADDRINUSE: self = .addressInUse
        case EADDRNOTAVAIL: self = .unreachable(detail: error.text)
        default: self = .system(call: "bind", code: error.code)
        }
    }

    /// What it means that a step of taking over an adapter failed.
    ///
    /// The kernel answers `EBUSY` to bringing an adapter down that a user channel holds, and `EUSERS` to a second user
    /// channel that comes at the same time; `EAFNOSUPPORT` both without Bluetooth and outside the first network
    /// namespace.
    init(openingAdapter error: Errno, call: String, executable: String?) {
        switch error.code {
        case EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT: self = .bluetoothUnavailable
        case EPERM, EACCES: self = .notPermitted(executable: executable)
        case ENODEV: self = .noSuchAdapter(present: [])
        case EBUSY, EUSERS: self = .adapterHeld(by: nil)
        case ERFKILL: self = .adapterBlocked(.software)
        default: self = .system(call: call, code: error.code)
        }
    }
}
