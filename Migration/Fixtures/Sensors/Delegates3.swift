import Foundation

/// A protocol of the app's own with optional methods.
@objc public protocol TransferDelegate: NSObjectProtocol {
    @objc optional func transfer(didSend count: Int)
    @objc optional func transferMayContinue() -> Bool
    func transferDidEnd()
}

class LoggingDelegate: NSObject, TransferDelegate {
    func transferDidEnd() {}
}

final class CountingDelegate: LoggingDelegate {
    var total = 0
    func transfer(didSend count: Int) { total += count }
    @objc public func transferMayContinue() -> Bool { total < 100 }
}

final class Transfer {
    weak var delegate: TransferDelegate?

    func send() {
        guard delegate?.transferMayContinue?() ?? true else { return }
        delegate?.transfer?(didSend: 20)
        delegate?.transferDidEnd()
    }
}
