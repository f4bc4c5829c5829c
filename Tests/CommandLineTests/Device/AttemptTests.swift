import BluetoothLE
import Testing

@testable import BluetoothCommandLine

/// When a command tries again what a reset, a damaged packet or a lost link has interrupted.
struct AttemptTests {
    private static func passes(_ error: any Error, _ history: inout AttemptHistory, left: Duration = .seconds(10))
        -> Bool
    {
        if case .again = history.verdict(after: error, left: left) { true } else { false }
    }

    @Test(
        "A command is retried after every reset of this device's controller and every lost link",
        arguments: [
            .notReady, .adapterRemoved, .disconnected(.adapterReset), .disconnected(.adapterRemoved),
            .syncEnded(.controllerReset), .disconnected(.supervisionTimeout), .peerNotResponding, .connectionFailed,
        ] as [BluetoothError])
    func passing(_ error: BluetoothError) {
        var history = AttemptHistory()
        for _ in 0..<20 { #expect(Self.passes(error, &history)) }
    }

    @Test(
        "A refusal is retried twice, and the third one is final",
        arguments: [
            .refusedByController(.invalidCommandParameters), .disconnected(.byPeer), .answerLost, .timedOut,
            .invalidResponse(.echoMismatch), .pairingFailed(.disconnected), .pairingFailed(.timedOut),
            .pairingFailed(.encryptionFailed(status: 0x3E)),
        ] as [BluetoothError])
    func refusals(_ error: BluetoothError) {
        var history = AttemptHistory()
        #expect((0..<3).map { _ in Self.passes(error, &history) } == [true, true, false])
    }

    @Test("An error that another attempt cannot resolve is final")
    func final() {
        let errors: [any Error] = [
            BluetoothError.att(ATTError(.readNotPermitted, for: .readRequest, at: AttributeHandle(3))),
            BluetoothError.pairingFailed(.peer(.confirmValueFailed)),
            BluetoothError.pairingFailed(.local(.authenticationRequirements)),
            BluetoothError.pairingFailed(.cancelled), BluetoothError.cancelled, BluetoothError.syncEnded(.lost),
            BluetoothError.disconnected(.encryption(.pinOrKeyMissing)),
            BluetoothError.notSupported(.leCoded), CommandFailure(.usage, "several"),
        ]
        for error in errors {
            var history = AttemptHistory()
            #expect(!Self.passes(error, &history), "\(error)")
        }
    }

    @Test("Pauses double up to a second, and no attempt follows if the pause exceeds the remaining time")
    func pauses() {
        var history = AttemptHistory()
        var pauses: [Duration] = []
        for _ in 0..<6 {
            if case .again(let pause) = history.verdict(after: BluetoothError.notReady, left: .seconds(10)) {
                pauses.append(pause)
            }
        }
        #expect(pauses == [100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
        #expect(!Self.passes(BluetoothError.notReady, &history, left: .seconds(1)))
    }

    @Test("A device that is no longer found does not hide the earlier error")
    func telling() throws {
        let absence = CommandFailure(.notFound, "not found", isAbsence: true)
        var first = AttemptHistory()
        guard case .end(let alone) = first.verdict(after: absence, left: .zero) else { throw absence }
        #expect(alone as? CommandFailure == absence)
        var second = AttemptHistory()
        #expect(Self.passes(BluetoothError.peerNotResponding, &second))
        guard case .end(let error) = second.verdict(after: absence, left: .zero) else { throw absence }
        #expect(error as? BluetoothError == .peerNotResponding)
    }
}
