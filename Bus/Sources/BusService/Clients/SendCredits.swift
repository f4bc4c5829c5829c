import BluetoothHost

/// The values that a client may still hand to the host on each link, and what waits for more.
///
/// A client that writes faster than the link sends is slowed down: its calls are answered when their values have a
/// credit.
final class SendCredits {
    private struct Line {
        var count = 0
        var waiting: [(Bool) -> Void] = []
    }

    private var lines: [LinkIdentifier: Line] = [:]

    /// Calls back with true when a value may be handed over, at once or later; with false if the link has ended.
    func take(on link: LinkIdentifier, _ action: @escaping (Bool) -> Void) {
        if let line = lines[link], line.count > 0, line.waiting.isEmpty {
            lines[link]?.count -= 1
            return action(true)
        }
        lines[link, default: Line()].waiting.append(action)
    }

    /// Takes a credit if there is one. Otherwise, calls back once when there is.
    func tryTake(on link: LinkIdentifier, _ whenAvailable: @escaping () -> Void) -> Bool {
        if let line = lines[link], line.count > 0, line.waiting.isEmpty {
            lines[link]?.count -= 1
            return true
        }
        lines[link, default: Line()].waiting.append { [unowned self] isAvailable in
            guard isAvailable else { return }
            // The caller takes it again.
            lines[link]?.count += 1
            whenAvailable()
        }
        return false
    }

    /// The number of values that wait for a credit.
    func waitingCount(on link: LinkIdentifier) -> Int { lines[link]?.waiting.count ?? 0 }

    func add(_ count: Int, on link: LinkIdentifier) {
        lines[link, default: Line()].count += count
        while let line = lines[link], line.count > 0, let action = line.waiting.first {
            lines[link]?.count -= 1
            lines[link]?.waiting.removeFirst()
            action(true)
        }
    }

    func linkEnded(_ link: LinkIdentifier) {
        for action in lines.removeValue(forKey: link)?.waiting ?? [] { action(false) }
    }
}
