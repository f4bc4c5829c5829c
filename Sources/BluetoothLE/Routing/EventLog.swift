import BluetoothAdapter
import BluetoothATT
import BluetoothHost
import BluetoothSMP
import Logging
import Synchronization

/// Logs events that the application cannot observe otherwise. Messages never contain values, keys or names received
/// over the air.
final class EventLog: Sendable {
    /// Events that a peer or interference can cause again and again.
    private enum Repeated: Int, CaseIterable {
        case unserved, reset, loss, retry, pairingFailed, bondRefused
    }

    private let logger: Logger
    private let counts = Mutex([Int](repeating: 0, count: Repeated.allCases.count))

    /// - Parameter logger: nil to log nothing.
    init(_ logger: Logger?) { self.logger = logger ?? Logger(label: "BluetoothLE") { _ in SwiftLogNoOpLogHandler() } }

    /// Logs the first, second, fourth, eighth occurrence and so on, so that nobody can fill the log.
    private func say(_ level: Logger.Level, _ kind: Repeated, _ line: @autoclosure () -> String) {
        let count = counts.withLock { counts in
            counts[kind.rawValue] += 1
            return counts[kind.rawValue]
        }
        say(level, count, line())
    }

    private func say(_ level: Logger.Level, _ count: Int, _ line: @autoclosure () -> String) {
        guard count & (count - 1) == 0 else { return }
        logger.log(level: level, "\(line())", metadata: count > 1 ? ["occurrences": "\(count)"] : nil)
    }

    // MARK: - Published services

    func unserved(_ request: String, _ handle: AttributeHandle?, by link: LinkState) {
        let attribute = handle.map { "handle \($0)" } ?? "no handle"
        say(
            .warning, .unserved,
            "\(request) of \(attribute) by \(link.peer) was not handled: iterate over the events of that characteristic"
        )
    }

    func unanswered(by link: LinkState?) {
        say(
            .warning, .unserved,
            "a request\(link.map { " by \($0.peer)" } ?? "") was not answered in time; iterate over the events of each "
                + "characteristic with a dynamic value")
    }

    // MARK: - Scanning

    /// - Parameter count: the number of sightings dropped so far.
    func sightingsDropped(_ count: Int) {
        say(.warning, count, "a sighting was dropped: the scan's consumer is more than 65,536 sightings behind")
    }

    // MARK: - The controller

    func ready() { logger.debug("the controller is ready") }
    func resetting(_ cause: HostResetCause) { say(.warning, .reset, "the controller is being reset: \(cause)") }
    func lost(_ error: BluetoothError) { say(.warning, .loss, "the controller is gone, waiting for it: \(error)") }

    func retryFailed(_ error: BluetoothError) {
        say(.notice, .retry, "failed to open the controller, retrying: \(error)")
    }

    // MARK: - Pairing

    func cannotPair(_ reason: any Error) { logger.warning("devices cannot pair with this one: \(reason)") }

    func pairingFailed(_ error: PairingError, with link: LinkState, hasAgent: Bool) {
        let security = link.state.withLock { $0.security }
        let hint =
            if error == .local(.authenticationRequirements), security.isBonded, !security.isEncrypted {
                "; it has not used the keys of its bond; if it was reset, remove the bond and pair again"
            } else {
                hasAgent ? "" : "; this program has no pairing agent, see Adapter.withPairingAgent"
            }
        say(.notice, .pairingFailed, "pairing with \(link.peer) has failed: \(error)\(hint)")
    }

    func bondRefused(by link: LinkState) {
        say(
            .warning, .bondRefused,
            "\(link.peer) does not have the keys of its bond; if it was reset, remove the bond and pair again")
    }
}
