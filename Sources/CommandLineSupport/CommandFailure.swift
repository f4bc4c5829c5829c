import BluetoothLE

/// Why a program ends without having done what it was asked for.
public struct CommandFailure: Error, Equatable, Sendable {
    public var status: ExitStatus
    /// One line for the user, which says what to do where something can be done; nil where the user knows.
    public var message: String?

    public init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    /// What an error means for the process, where it is not one of parsing.
    init?(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as BluetoothError:
            status = ExitStatus(error)
            message = error == .cancelled ? nil : "\(error)"
        case let error as TransportError:
            status = .transportFailed
            message = "\(error)"
        case is CancellationError:
            status = .failure
            message = nil
        default: return nil
        }
    }
}
