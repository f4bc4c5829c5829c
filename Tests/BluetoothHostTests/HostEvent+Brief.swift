import BluetoothATT
import BluetoothGATT
import BluetoothHCI
import BluetoothHost

extension HostEvent {
    /// The event in a few words, for comparison with what a test expects.
    var brief: String {
        switch self {
        case .ready: "ready"
        case .resetting(.hardwareError(let code)): "resetting: hardware error \(code)"
        case .resetting(.commandTimedOut(let opcode)): "resetting: no answer to \(opcode)"
        case .resetting(.malformedPacket): "resetting: malformed packet"
        case .failed(let failure): "failed: \(failure)"
        case .advertisement(let advertisement): "advertisement \(advertisement.rssi)"
        case .scanningFailed(let error): "scanning failed: \(error)"
        case .advertisingStarted: "advertising"
        case .advertisingFailed(let error): "advertising failed: \(error)"
        case .connected(let link, _): "connected \(link)"
        case .connectionFailed(_, let error): "connection failed: \(error)"
        case .disconnected(let link, let reason): "disconnected \(link): \(reason.rawValue)"
        case .parametersChanged(_, let parameters): "parameters \(parameters.interval)"
        case .rssiRead(_, let rssi): "rssi \(rssi)"
        case .requestCompleted: "request completed"
        case .requestFailed(_, let error): "request failed: \(error)"
        case .mtuChanged(_, let mtu): "mtu \(mtu)"
        case .notification(_, let handle, _): "notification \(handle.rawValue)"
        case .indication(_, let handle, _): "indication \(handle.rawValue)"
        case .operationEnded(_, .completed): "operation completed"
        case .operationEnded(_, .failed(_, let error)): "operation failed: \(error)"
        case .valueWritten(_, let handle, _): "written \(handle.rawValue)"
        case .readRequested(_, let handle, let offset): "read requested \(handle.rawValue) \(offset)"
        case .writeRequested(_, let handle, _): "write requested \(handle.rawValue)"
        case .executeRequested: "execute requested"
        case .requestExpired: "request expired"
        case .subscriptionChanged(_, let change): "subscription \(change.new.rawValue)"
        case .indicationConfirmed(_, let handle): "confirmed \(handle.rawValue)"
        case .readyToSend: "ready to send"
        }
    }
}
