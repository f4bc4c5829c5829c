import BluetoothHost

/// A call, identified by its user and token.
struct UserCall: Sendable {
    let user: UserID
    let token: CallToken
    /// Whether it keeps the order of its user's calls: `HostCall.keepsOrder`.
    var keepsOrder = true
    /// The link on which later calls of the user wait for this call to end; nil if none do.
    var turn: LinkIdentifier?
}

extension UserCall {
    init(_ call: HostCall) { self.init(user: call.user, token: call.token, keepsOrder: call.keepsOrder) }
}

extension UserCall: Hashable {
    static func == (one: UserCall, other: UserCall) -> Bool { one.user == other.user && one.token == other.token }

    func hash(into hasher: inout Hasher) {
        hasher.combine(user)
        hasher.combine(token)
    }
}
