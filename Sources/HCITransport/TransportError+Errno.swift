import BluetoothPlatform
import CBluetoothHCI

extension TransportError.Reason {
    /// The reason for a failure to read from or write to an open transport. It is `end` if the other side is gone.
    init(transferring error: Errno, call: String, end: Self = .closedByPeer) {
        switch error.code {
        case EPIPE, ECONNRESET, ECONNABORTED, ENOTCONN, ESHUTDOWN, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETRESET,
            ENETDOWN, ENODEV, ENXIO:
            self = end
        default: self = .system(call: call, code: error.code)
        }
    }

    /// The reason for a failure to connect.
    init(connecting error: Errno) {
        switch error.code {
        // A local socket whose file is missing, or whose connection queue is full, is treated the same.
        case ECONNREFUSED, ENOENT, EAGAIN: self = .connectionRefused
        case ETIMEDOUT: self = .timedOut
        case EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL: self = .unreachable(detail: error.text)
        default: self = .system(call: "connect", code: error.code)
        }
    }

    /// The reason for a failure to listen on an address.
    init(listening error: Errno) {
        switch error.code {
        case EADDRINUSE: self = .addressInUse
        case EADDRNOTAVAIL: self = .unreachable(detail: error.text)
        default: self = .system(call: "bind", code: error.code)
        }
    }

    /// The reason for a failed step of taking over an adapter.
    ///
    /// Bringing down an adapter held by a user channel fails with `EBUSY`, and opening a second user channel at the
    /// same time fails with `EUSERS`. Without Bluetooth, and outside the initial network namespace, every call fails
    /// with `EAFNOSUPPORT`.
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
