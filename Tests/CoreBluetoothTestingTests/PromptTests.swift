import CoreBluetooth
import CoreBluetoothTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(30)), .radioCapture)
struct PromptTests {
    private let air = TestRadio(time: .manual)

    private func lock(_ pairing: VirtualPairing) async throws -> VirtualPeripheral {
        let lock = VirtualPeripheral(
            name: "Lock",
            services: [
                VirtualService(
                    "180D",
                    characteristics: [
                        VirtualCharacteristic("F001", .read, value: Data([1]), security: .authenticated)
                    ])
            ], pairing: pairing)
        try await air.add(lock)
        return lock
    }

    private func reads() async throws -> String? {
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of F001 -") }
        app.read("F001")
        try await air.wait { app.lines.contains { $0.hasPrefix("F001 is") } }
        return app.lines.first { $0.hasPrefix("F001 is") }
    }

    @Test(arguments: [true, false])
    func `the user enters the digits that the peripheral shows, or others`(isRight: Bool) async throws {
        let lock = try await lock(.showsPasskey)
        air.onPairingPrompt { prompt in
            guard case .enterPasskey = prompt else { return .accept }
            let shown = try await lock.shownPasskey()
            return .passkey(isRight ? shown : (shown + 1) % 1_000_000)
        }
        let line = try await reads()
        #expect(line == (isRight ? "F001 is [1] -" : "F001 is [] ATT 5"))
    }

    @Test func `the user of the peripheral enters the digits that the app's system shows`() async throws {
        let lock = try await lock(.entersPasskey)
        air.onPairingPrompt { prompt in
            if case .showPasskey(let passkey) = prompt { lock.enterPasskey(passkey) }
            return .accept
        }
        #expect(try await reads() == "F001 is [1] -")
    }

    @Test(arguments: [true, false])
    func `the user compares digits, and accepts or rejects`(accepts: Bool) async throws {
        let lock = try await lock(.comparesNumbers())
        let shown = Mutex<[UInt32]>([])
        air.onPairingPrompt { prompt in
            guard case .compare(let number) = prompt else { return .accept }
            let there = try await lock.shownPasskey()
            shown.withLock { $0 += [number, there] }
            return accepts ? .accept : .reject
        }
        #expect(try await reads() == (accepts ? "F001 is [1] -" : "F001 is [] ATT 5"))
        let digits = shown.withLock { $0 }
        #expect(digits.count == 2 && digits.first == digits.last)
    }

    @Test func `prompts can be answered by a closure that is set after the app has started`() async throws {
        let lock = try await lock(.showsPasskey)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of F001 -") }
        air.onPairingPrompt { _ in .reject }
        air.onPairingPrompt { prompt in
            if case .enterPasskey = prompt { .passkey(try await lock.shownPasskey()) } else { .accept }
        }
        app.read("F001")
        try await air.wait { app.lines.contains { $0.hasPrefix("F001 is") } }
        #expect(app.has("F001 is [1] -"))
    }

    @Test func `digits that nobody has read disappear when the pairing ends`() async throws {
        let lock = try await lock(.showsPasskey)
        air.onPairingPrompt { _ in throw CancellationError() }
        #expect(try await reads() == "F001 is [] ATT 5")
        await air.settle()
        let isShown = try await air.happens(within: .seconds(10)) { _ = try await lock.shownPasskey() }
        #expect(!isShown)
    }

    @Test func `without prompts, an authenticated value stays closed`() async throws {
        _ = try await lock(.showsPasskey)
        #expect(try await reads() == "F001 is [] ATT 5")
    }

    @Test func `a peripheral that lost its bond ends the link of an app that has one`() async throws {
        let lock = VirtualPeripheral(
            name: "Lock",
            services: [
                VirtualService(
                    "180D", characteristics: [.init("F001", .read, value: Data([1]), security: .encrypted)])
            ])
        try await air.add(lock)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of F001 -") }
        app.read("F001")
        try await air.wait { app.has("F001 is [1] -") }
        try await lock.simulateBondLoss()
        try await lock.simulateDisconnection()
        try await air.wait { app.has("lost CB 7") }
        app.connect(try #require(app.peripheral))
        try await air.wait {
            app.has("failed CB 14") || app.lines.contains { $0.hasPrefix("lost") && $0 != "lost CB 7" }
        }
    }
}
