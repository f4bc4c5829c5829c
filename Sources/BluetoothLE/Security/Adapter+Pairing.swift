import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import Synchronization

extension Adapter {
    /// Uses an agent for pairing while `body` runs. Only one agent is active at a time: the most recent one.
    ///
    /// Without an agent, peers cannot pair with this device. `Connection.pair` still works, but without protection
    /// against man-in-the-middle attacks.
    ///
    ///     try await adapter.withPairingAgent(agent) {
    ///         let connection = try await adapter.connect(to: lock)
    ///         try await connection.pair()
    ///     }
    ///
    /// - Throws: the errors of `body`, or the reason why the adapter was closed.
    public func withPairingAgent<Outcome>(
        _ agent: some PairingAgent, _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        let queue = AsyncQueue<PairingEvent>(capacity: 256, overflow: .grow)
        let description = PairingAgentDescription(
            ioCapability: agent.ioCapability, pairsOnDemand: agent.pairsOnDemand)
        router.state.withLock { state in
            state.pairing = queue
            state.outOfBandAgent = agent as? any OutOfBandPairing
        }
        defer {
            let isLast = router.state.withLock { state in
                guard state.pairing === queue else { return false }
                state.pairing = nil
                state.outOfBandAgent = nil
                return true
            }
            if isLast { router.post(.setPairingAgent(nil)) }
        }
        try await router.call(.setPairingAgent(description))
        let events = EventSequence(queue) {}
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await agent.handle(events, description) }
            defer { group.cancelAll() }
            return try await body()
        }
    }

    /// Generates this device's out-of-band data for LE Secure Connections (Core 5.4, Vol 3, Part H, 2.3.5.6.4). Give it
    /// to the peer over a channel other than Bluetooth, such as NFC or a printed code. The data is secret: anyone who
    /// has it can pair in place of the intended peer. The next pairing with a peer that has the data uses it up, and
    /// data generated earlier becomes invalid.
    ///
    /// - Throws: `.notSupported` if pairing is disabled on the adapter.
    public func outOfBandData() async throws(BluetoothError) -> OutOfBandData {
        guard case .outOfBandData(let data) = try await router.call(.makeOutOfBandData) else {
            throw .adapterClosed
        }
        return data
    }

    /// The bonds with peers. Their descriptions do not contain keys.
    public var bonds: [Bond] {
        get async throws(BluetoothError) {
            guard case .bonds(let bonds) = try await router.call(.bonds) else { return [] }
            return bonds
        }
    }

    /// Deletes the keys of a peer. A link that is encrypted with them stays encrypted until it ends.
    ///
    /// - Throws: `.notBonded`, or `.bondNotStored` if the change could not be stored.
    public func removeBond(with peer: PeerID) async throws(BluetoothError) {
        try await router.call(.removeBond(peer))
    }
}

extension Adapter {
    /// Discards the results of discovering a peer's services, on earlier connections and on this one, so that the next
    /// discovery asks the peer. This happens automatically when the services change. Call this method only for peers
    /// that change their services without the indication that Core 5.4, Vol 3, Part G, 2.5.2 requires.
    public func forgetServices(of peer: PeerID) async throws(BluetoothError) {
        try await router.call(.forgetAttributes(peer))
    }
}

extension PairingAgent {
    /// Handles each event in its own task: while a person answers one peer, another one may pair.
    fileprivate func handle(_ events: EventSequence<PairingEvent>, _ description: PairingAgentDescription) async {
        let parameters = PairingParameters(
            ioCapability: description.ioCapability, isBonding: description.isBonding, hasSentOutOfBandData: true)
        await withDiscardingTaskGroup { group in
            var iterator = events.makeAsyncIterator()
            while let event = try? await iterator.next() { group.addTask { await handle(event, parameters) } }
            group.cancelAll()
        }
    }

    private func handle(_ event: PairingEvent, _ parameters: PairingParameters) async {
        switch event {
        case .asked(let connection, let question):
            let answer = await answer(question, on: connection, parameters)
            connection.router.post(.answerPairing(connection.link.identifier, answer))
        case .shown(let connection, .passkey(let passkey)):
            await (self as? any PasskeyDisplay)?.showPasskey(passkey, for: connection)
        case .shown(_, .keypress): return
        case .ended(let connection, let result): await pairingEnded(with: connection, result: result)
        }
    }
}

extension Connection {
    /// The current protection of the link.
    public var security: LinkSecurity { link.state.withLock { $0.security } }

    /// Protects the link: encrypts it with the key of a bond, or pairs. The adapter's `PairingAgent` interacts with the
    /// user.
    ///
    /// - Throws: `.pairingFailed`, or `.disconnected`.
    public func pair(_ request: PairRequest = PairRequest()) async throws(BluetoothError) {
        try router.check(link)
        var request = request
        if request.peerOutOfBandData == nil, let agent = router.state.withLock({ $0.outOfBandAgent }) {
            request.peerOutOfBandData = await agent.outOfBandData(of: self)
        }
        try await router.call(.pair(link.identifier, request), on: link)
    }
}
