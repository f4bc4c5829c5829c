import BluetoothLE

/// Why a program ends without having done its job.
public struct CommandFailure: Error, Equatable, Sendable {
    public var status: ExitStatus
    /// One line for the user, which says what to do about it if possible; nil if the user already knows.
    public var message: String?

    public init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    /// The failure for an error other than a parsing error.
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

/// The parser reports an error of `validate()` by its description.
extension CommandFailure: CustomStringConvertible {
    public var description: String { message ?? "" }
}
