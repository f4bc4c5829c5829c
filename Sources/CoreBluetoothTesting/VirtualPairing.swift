import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization

/// How a `VirtualPeripheral` pairs: what its user can see and enter.
public enum VirtualPairing: Sendable {
    /// It rejects pairing.
    case none
    /// It has neither a display nor keys, and pairs with everyone. The link is encrypted, but not authenticated.
    case justWorks
    /// It shows six digits, which the app's user enters: see `VirtualPeripheral.shownPasskey()`.
    case showsPasskey
    /// Its user enters the six digits that the app's system shows: see `VirtualPeripheral.enterPasskey(_:)`.
    case entersPasskey
    /// It shows six digits, and its user accepts or rejects that the app's system shows the same ones.
    case comparesNumbers(accepts: Bool = true)

    /// The agent that answers for a peripheral, which it does not retain; nil to reject pairing.
    func agent(of peripheral: VirtualPeripheral) -> (any PairingAgent)? {
        switch self {
        case .none: nil
        case .justWorks: Plain()
        case .showsPasskey: Display(peripheral: peripheral)
        case .entersPasskey: Keyboard(peripheral: peripheral)
        case .comparesNumbers(let accepts): Comparison(accepts: accepts, peripheral: peripheral)
        }
    }

    private struct Plain: PairingAgent {
        func allowsPairing(with connection: Connection, features: PairingFeatures) async -> Bool { true }
    }

    private struct Display: PasskeyDisplay {
        weak let peripheral: VirtualPeripheral?

        func allowsPairing(with connection: Connection, features: PairingFeatures) async -> Bool { true }
        func showPasskey(_ passkey: UInt32, for connection: Connection) async { peripheral?.show(passkey) }
    }

    private struct Keyboard: PasskeyEntry {
        weak let peripheral: VirtualPeripheral?

        func allowsPairing(with connection: Connection, features: PairingFeatures) async -> Bool { true }
        func enterPasskey(for connection: Connection) async -> UInt32? { await peripheral?.nextEnteredPasskey() }
    }

    private struct Comparison: NumberComparison {
        let accepts: Bool
        weak let peripheral: VirtualPeripheral?

        func allowsPairing(with connection: Connection, features: PairingFeatures) async -> Bool { true }
        func showPasskey(_ passkey: UInt32, for connection: Connection) async { peripheral?.show(passkey) }

        func confirmNumber(_ number: UInt32, for connection: Connection) async -> Bool {
            peripheral?.show(number)
            return accepts
        }
    }
}

extension VirtualPeripheral {
    /// Returns the six digits that the peripheral shows, 0 to 999999, and waits until it shows some. They are then used
    /// up. They also disappear when the pairing ends.
    ///
    /// - Throws: `NothingHappened`; `CancellationError`.
    public func shownPasskey(fileID: String = #fileID, line: Int = #line) async throws -> UInt32 {
        try await passing(TestCall(fileID, line)) { [self] in
            let event = try await waiters.wait { event in
                if case .showedPasskey = event { true } else { false }
            } unless: {
                self.settings.withLock { $0.shownPasskey }.map { .showedPasskey($0) }
            }
            settings.withLock { $0.shownPasskey = nil }
            guard case .showedPasskey(let passkey) = event else { throw CancellationError() }
            return passkey
        }
    }

    /// Enters six digits, 0 to 999999, on the peripheral's keys, now or when it asks for them.
    public func enterPasskey(_ passkey: UInt32) {
        settings.withLock { $0.enteredPasskey = passkey }
        waiters.happened(.enteredPasskey(passkey))
    }

    /// Forgets the bonds with all centrals, like a device that was reset to its factory settings.
    public func simulateBondLoss(fileID: String = #fileID, line: Int = #line) async throws {
        let adapter = present.adapter
        try await passing(TestCall(fileID, line)) {
            for bond in try await adapter.bonds { try await adapter.removeBond(with: bond.peer) }
        }
    }

    fileprivate func show(_ passkey: UInt32) {
        settings.withLock { $0.shownPasskey = passkey }
        waiters.happened(.showedPasskey(passkey))
    }

    fileprivate func nextEnteredPasskey() async -> UInt32? {
        let event = try? await waiters.wait { event in
            if case .enteredPasskey = event { true } else { false }
        } unless: {
            self.settings.withLock { $0.enteredPasskey }.map { .enteredPasskey($0) }
        }
        settings.withLock { $0.enteredPasskey = nil }
        guard case .enteredPasskey(let passkey) = event else { return nil }
        return passkey
    }
}

/// What a system shows to the user of the app's device while devices pair. On Apple's platforms these are alerts.
public enum PairingPrompt: Sendable {
    /// A central wants to pair with the app.
    case allow
    /// Six digits to enter on the other device.
    case showPasskey(UInt32)
    /// Asks for the six digits that the other device shows.
    case enterPasskey
    /// Asks whether the other device shows the same six digits.
    case compare(UInt32)

    /// What the user does.
    public enum Answer: Sendable {
        /// Agrees, or acknowledges the digits.
        case accept
        /// Cancels.
        case reject
        /// Enters six digits, 0 to 999999.
        case passkey(UInt32)
    }
}

extension BluetoothPairing {
    /// Answers all prompts with a closure. If it throws, the user cancels.
    init(answering answer: @escaping @Sendable (PairingPrompt) async throws -> PairingPrompt.Answer) {
        self.init()
        // A prompt may be shown while a call of the test lets time pass, but it is not part of that call.
        let ask = { @Sendable (prompt: PairingPrompt, reply: @escaping @Sendable (PairingPrompt.Answer) -> Void) in
            _ = Task { await TestAir.independently { reply((try? await answer(prompt)) ?? .reject) } }
        }
        allows = { _, reply in
            ask(.allow) { if case .accept = $0 { reply(true) } else { reply(false) } }
        }
        show = { passkey, _ in ask(.showPasskey(passkey)) { _ in } }
        enter = { _, reply in
            ask(.enterPasskey) { if case .passkey(let passkey) = $0 { reply(passkey) } else { reply(nil) } }
        }
        compare = { number, _, reply in
            ask(.compare(number)) { if case .accept = $0 { reply(true) } else { reply(false) } }
        }
    }
}
