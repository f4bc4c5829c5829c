import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing

/// Keypress notifications and the Security Manager Timer (Core 5.4, Vol 3, Part H, 3.4 and 3.5.8).
@Suite("Keypresses")
struct KeypressTests {
    private func parameters(_ capability: IOCapability) -> PairingParameters {
        PairingParameters(ioCapability: capability, requiresAuthentication: true, sendsKeypresses: true)
    }

    @Test("Each keypress restarts the timer of both devices", arguments: LinkRole.allCases)
    func slowTyping(_ typist: LinkRole) throws {
        var world = HostWorld()
        let first = world.startSecure(), second = world.startSecure()
        let pair = try world.connectSecure(first, to: second)
        let central = parameters(typist == .central ? .keyboardOnly : .displayOnly)
        let peripheral = parameters(typist == .peripheral ? .keyboardOnly : .displayOnly)
        try world.hosts[pair.central].pair(pair.centralLink, central, at: world.now)
        let isAsked = world.next(pair.peripheral) { $0.event.isConsentAsked ? true : nil }
        try #require(isAsked == true)
        try world.hosts[pair.peripheral].answerPairing(pair.peripheralLink, .accept(peripheral), at: world.now)

        let shown: UInt32? = world.next(typist == .central ? pair.peripheral : pair.central) {
            if case .security(_, .shown(.passkey(let passkey))) = $0.event { passkey } else { nil }
        }
        let passkey = try #require(shown)
        let (index, link) =
            typist == .central ? (pair.central, pair.centralLink) : (pair.peripheral, pair.peripheralLink)
        for key in [KeypressNotification.entryStarted, .digitEntered, .digitEntered, .digitEntered] {
            world.run(for: .seconds(20))
            world.hosts[index].pressKey(key, on: link, at: world.now)
            world.settle()
        }
        world.run(for: .seconds(20))
        try world.hosts[index].answerPairing(link, .passkey(passkey), at: world.now)
        for end in [pair.central, pair.peripheral] {
            let outcome: Result<KeyStrength, PairingError>? = world.next(end) { $0.event.pairingOutcome }
            #expect(
                outcome
                    == .success(KeyStrength(model: .passkeyEntry, usesSecureConnections: true, keySize: 16)))
        }
    }
}

extension HostEvent {
    /// How a pairing has ended.
    var pairingOutcome: Result<KeyStrength, PairingError>? {
        switch self {
        case .security(_, .paired(let strength, _)): .success(strength)
        case .security(_, .pairingFailed(let error)): .failure(error)
        default: nil
        }
    }
}
