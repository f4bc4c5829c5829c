import BluetoothLE

/// The reason why a program ends without having done its job.
public struct CommandFailure: Error, Equatable, Sendable {
    /// The status with which the program exits.
    public var status: ExitStatus
    /// One line for the user, with a remedy if possible; nil if the user already knows the reason.
    public var message: String?

    /// Whether the device was not found or reached in time. The error of an earlier attempt may explain the failure
    /// better.
    public var isAbsence = false

    /// Creates a failure. The message is one line for the user; nil if the user already knows the reason.
    public init(_ status: ExitStatus, _ message: String?, isAbsence: Bool = false) {
        self.status = status
        self.message = message
        self.isAbsence = isAbsence
    }

    /// The failure for an error other than a parsing error.
    init?(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as BluetoothError:
            status = ExitStatus(error)
            message = error == .cancelled ? nil : "\(error)"
        case let error as TransportError:
            status = ExitStatus(error)
            message = error.reason == .cancelled ? nil : "\(error)"
        case is CancellationError:
            status = .failure
            message = nil
        default: return nil
        }
    }
}

extension CommandFailure {
    /// The failure for an error. If the controller lacks a feature, the message names the option that needs it.
    ///
    /// - Parameter option: returns the option that needs the feature, as the user gave it; nil if none does.
    public init(_ error: BluetoothError, option: (ControllerFeature) -> String?) {
        let advice = error.missingFeature.map { feature in
            option(feature).map { ", which \($0) needs; leave it out, or use another controller" }
                ?? "; use another controller"
        }
        self.init(ExitStatus(error), error == .cancelled ? nil : "\(error)" + (advice ?? ""))
    }
}

/// The parser reports an error of `validate()` by its description.
extension CommandFailure: CustomStringConvertible {
    /// The message; empty if it is nil.
    public var description: String { message ?? "" }
}
