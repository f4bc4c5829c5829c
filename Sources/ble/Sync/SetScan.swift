import BluetoothLE
import BluetoothCommandLine
import Synchronization

/// A scan for the advertising sets of a device.
final class SetScan: Sendable {
    /// How long the scan continues to find further sets, once there is one with periodic advertising.
    private static let survey = Duration.seconds(2)

    private let address: DeviceAddress
    private let sets = Mutex(AdvertisedSets())

    init(_ address: DeviceAddress) { self.address = address }

    /// Waits for the sets to synchronize with: the requested ones, or otherwise the one that has periodic advertising.
    ///
    /// - Throws: `.usage` if several sets have it, `.notFound` if none has.
    func run(
        for wanted: [UInt8], parameters: ScanParameters, on adapter: Adapter, _ attempts: Attempts
    ) async throws -> [UInt8] {
        let left = attempts.left
        let filter = ScanFilter(addresses: [address])
        do throws(BluetoothError) {
            try await waiting(for: "periodic advertising of \(address)", upTo: attempts.timeout) {
                () throws(BluetoothError) in
                try await withTimeout(left) { [self] () throws(BluetoothError) in
                    for try await sighting in adapter.scan(for: filter, parameters: parameters)
                    where sets.withLock({ $0.take(sighting) }) && isEnough(wanted) { return }
                }
            }
            guard wanted.isEmpty else { return wanted }
            // There may be other sets.
            let rest = min(Self.survey, attempts.left)
            try await waiting(for: "other sets of \(address)") { () throws(BluetoothError) in
                try await withTimeout(rest) { [self] () throws(BluetoothError) in
                    for try await sighting in adapter.scan(for: filter, parameters: parameters) {
                        _ = sets.withLock { $0.take(sighting) }
                    }
                }
            }
        } catch {
            guard error == .timedOut else { throw error }
        }
        let found = sets.withLock { $0.periodic }
        guard wanted.isEmpty else {
            guard isEnough(wanted) else { throw absence(of: wanted, attempts.timeout) }
            return wanted
        }
        guard found.count <= 1 else {
            throw CommandFailure(
                .usage,
                "\(address) has several sets with periodic advertising: \(sets.withLock { $0.list }); choose with "
                    + "--set")
        }
        guard !found.isEmpty else { throw absence(of: [], attempts.timeout) }
        return found
    }

    /// Whether one of the requested sets is known. If none is requested, whether any set with periodic advertising is.
    private func isEnough(_ wanted: [UInt8]) -> Bool {
        let found = sets.withLock { $0.periodic }
        return wanted.isEmpty ? !found.isEmpty : found.contains { wanted.contains($0) }
    }

    /// The failure if there is no set to synchronize with. It lists the sets that were found.
    func absence(of wanted: [UInt8], _ timeout: Seconds) -> CommandFailure {
        let (list, isEmpty) = sets.withLock { ($0.list, $0.isEmpty) }
        let what =
            switch wanted.count {
            case 0: "no periodic advertising"
            case 1: "no periodic advertising in set \(wanted[0])"
            default: "no periodic advertising in sets " + wanted.map { "\($0)" }.joined(separator: ", ")
            }
        let found = isEmpty ? "no advertising set of the device was seen" : "its sets: \(list)"
        return CommandFailure(
            .notFound, "\(what) of \(address) was found in \(timeout) s; \(found)", isAbsence: true)
    }
}
