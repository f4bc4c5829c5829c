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
        "A reset of this device's controller is got over as often as it happens",
        arguments: [
            .notReady, .adapterRemoved, .disconnected(.adapterReset), .disconnected(.adapterRemoved),
            .syncEnded(.controllerReset), .disconnected(.supervisionTimeout), .peerNotResponding, .connectionFailed,
        ] as [BluetoothError])
    func passing(_ error: BluetoothError) {
        var history = AttemptHistory()
        for _ in 0..<20 { #expect(Self.passes(error, &history)) }
    }

    @Test(
        "A refusal may be due to a damaged packet twice, and is meant the third time",
        arguments: [
            .refusedByController(.invalidCommandParameters), .disconnected(.byPeer), .answerLost, .timedOut,
            .invalidResponse(.echoMismatch), .pairingFailed(.disconnected), .pairingFailed(.timedOut),
            .pairingFailed(.encryptionFailed(status: 0x3E)),
        ] as [BluetoothError])
    func refusals(_ error: BluetoothError) {
        var history = AttemptHistory()
        #expect((0..<3).map { _ in Self.passes(error, &history) } == [true, true, false])
    }

    @Test("An error that another attempt cannot change ends the first one")
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

    @Test("Pauses double up to a second, and the last one fits into the time that is left")
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

    @Test("A device that is not found any more does not hide what went wrong before")
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
