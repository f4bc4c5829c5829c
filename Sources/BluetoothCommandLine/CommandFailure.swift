import BluetoothLE

/// Why a program ends without having done its job.
public struct CommandFailure: Error, Equatable, Sendable {
    public var status: ExitStatus
    /// One line for the user, which says what to do about it if possible; nil if the user already knows.
    public var message: String?

    /// Whether the device was not found or reached in time, which an attempt before may explain better.
    public var isAbsence = false

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
            status = .transportFailed
            message = "\(error)"
        case is CancellationError:
            status = .failure
            message = nil
        default: return nil
        }
    }
}

extension CommandFailure {
    /// The failure for an error, which names the option that needs a feature that the controller lacks.
    ///
    /// - Parameter option: the option, as the user gave it, that needs the feature; nil if none of them does.
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
    public var description: String { message ?? "" }
}
