import Synchronization

/// Whether adapters ask devices for their scan responses: what the configuration says, unless somebody wants it otherwise.
final class ScanMode: Sendable {
    let isActiveByConfiguration: Bool
    private let wished = Mutex<Bool?>(nil)

    init(isActive: Bool) { isActiveByConfiguration = isActive }

    var isActive: Bool { wished.withLock { $0 } ?? isActiveByConfiguration }

    /// - Parameter isActive: nil for what the configuration says.
    func wish(_ isActive: Bool?) { wished.withLock { $0 = isActive } }
}
