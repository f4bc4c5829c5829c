extension Scenario {
    /// Checks that every action and fault refers to an existing device and user. Call this before you play a scenario
    /// that was not drawn from a seed.
    ///
    /// - Throws: an error for the first invalid index.
    public func validate() throws(ScenarioError) {
        for (index, action) in actions.enumerated() {
            try Self.check(action.device, "actions[\(index)].device", devices.count)
            let users = devices[action.device].users
            try Self.check(action.user, "actions[\(index)].user", users.count)
        }
        for (index, fault) in faults.enumerated() {
            try Self.check(fault.device, "faults[\(index)].device", devices.count)
        }
    }

    private static func check(_ value: Int, _ path: String, _ count: Int) throws(ScenarioError) {
        guard (0..<count).contains(value) else { throw .noSuchIndex(path, value, count: count) }
    }
}

/// An error that describes why a scenario cannot be played.
@nonexhaustive
public enum ScenarioError: Error, Equatable, Sendable {
    /// An index refers to a device or user that does not exist.
    ///
    /// - Parameters:
    ///   - path: the place of the index in the scenario, such as `actions[3].device`.
    ///   - value: the index.
    ///   - count: the number of existing devices, or of the device's users.
    case noSuchIndex(_ path: String, _ value: Int, count: Int)
}

extension ScenarioError: CustomStringConvertible {
    /// The place of the error and the valid values, in one line.
    public var description: String {
        switch self {
        case .noSuchIndex(let path, let value, 0): "\(path) is \(value), but none exists; remove the action or fault"
        case .noSuchIndex(let path, let value, let count): "\(path) is \(value); give a number from 0 to \(count - 1)"
        }
    }
}
