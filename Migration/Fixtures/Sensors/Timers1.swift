import CoreBluetooth
import Foundation

/// A timer that carries its request, and fires once.
final class ScanTimeout: NSObject {
    final class Request {
        let services: [CBUUID]
        init(services: [CBUUID]) { self.services = services }
    }

    private(set) var expired: [CBUUID] = []

    func start(_ request: Request, seconds: TimeInterval) {
        Timer.scheduledTimer(
            timeInterval: seconds, target: self, selector: #selector(expire), userInfo: request, repeats: false)
    }

    @objc private func expire(_ timer: Timer) {
        guard let request = timer.userInfo as? Request else { return }
        expired += request.services
    }
}
