import Synchronization

/// Whether adapters scan actively: as configured, unless a client has requested another mode.
final class ScanMode: Sendable {
    let isActiveByConfiguration: Bool
    private let wished = Mutex<Bool?>(nil)

    init(isActive: Bool) { isActiveByConfiguration = isActive }

    var isActive: Bool { wished.withLock { $0 } ?? isActiveByConfiguration }

    /// - Parameter isActive: nil for the configured mode.
    func wish(_ isActive: Bool?) { wished.withLock { $0 = isActive } }
}
