import BluetoothBase
import BluetoothHost

/// The links that a user knows of.
final class UserLinks {
    private(set) var all: [UserLink] = []
    /// The most recently ended links.
    private(set) var former: [LinkIdentifier] = []

    /// A link; nil if the user does not know it.
    subscript(identifier: LinkIdentifier) -> UserLink? { all.first { $0.identifier == identifier } }

    func begin(_ link: UserLink) { all.append(link) }

    func end(_ identifier: LinkIdentifier) {
        all.removeAll { $0.identifier == identifier }
        former = former.suffix(2) + [identifier]
    }

    func removeAll() {
        all = []
        former = []
    }

    /// Applies a change that the host has reported.
    func update(_ identifier: LinkIdentifier, _ change: (inout LinkInformation) -> Void) {
        mutate(identifier) { change(&$0.information) }
    }

    /// Notes that `connect` has returned a link to the user.
    func hold(_ identifier: LinkIdentifier) { mutate(identifier) { $0.isHeld = true } }

    func release(_ identifier: LinkIdentifier) {
        mutate(identifier) {
            $0.isHeld = false
            $0.isPaused = false
        }
    }

    /// Notes that the user stops or resumes receiving on a link.
    func pause(_ identifier: LinkIdentifier, _ isPaused: Bool) { mutate(identifier) { $0.isPaused = isPaused } }

    private func mutate(_ identifier: LinkIdentifier, _ body: (inout UserLink) -> Void) {
        guard let index = all.firstIndex(where: { $0.identifier == identifier }) else { return }
        body(&all[index])
    }
}

/// A link from the point of view of one user.
struct UserLink {
    let identifier: LinkIdentifier
    fileprivate(set) var information: LinkInformation
    /// The station of the peer.
    let peer: Int
    /// The time at which this user learned of the link.
    let beginning: Instant
    /// Whether `connect` has returned the link to this user.
    fileprivate(set) var isHeld = false
    /// Whether the user has stopped receiving.
    fileprivate(set) var isPaused = false

    init(identifier: LinkIdentifier, information: LinkInformation, peer: Int, beginning: Instant) {
        self.identifier = identifier
        self.information = information
        self.peer = peer
        self.beginning = beginning
    }

    struct StreamKey: Hashable {
        var characteristic: SimulatedService.Characteristic
        var isIndicated = false
    }

    /// A stream of values that a user sends, and the number of the last one.
    struct Stream {
        var identifier: UInt32
        var last: UInt32 = 0
    }
}
