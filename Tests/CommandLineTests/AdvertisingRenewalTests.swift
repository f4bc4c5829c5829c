import BluetoothLE
import Testing

@testable import ble

/// `ble serve`: advertising that the controller refuses to go on with.
struct AdvertisingRenewalTests {
    private static let refusal = BluetoothError.refusedByController(.commandDisallowed)

    @Test("Advertising starts again after any number of refusals, with pauses that grow up to a limit")
    func survives() async throws {
        let clock = HandClock()
        try await TimeLimits.$clock.withValue(clock) {
            let (pauses, note) = AsyncStream.makeStream(of: Duration.self)
            let waker = Task {
                for await pause in clock.sleeps {
                    note.yield(pause)
                    clock.advance(by: pause)
                }
            }
            defer { waker.cancel() }
            var beginnings = 0
            try await AdvertisingRenewal.keep(0) { number throws(BluetoothError) in
                if number == 0 { throw Self.refusal }
            } begin: {
                beginnings += 1
                if beginnings < 8 { throw Self.refusal }
                return beginnings
            }
            #expect(beginnings == 8)
            note.finish()
            var seconds: [Duration] = []
            for await pause in pauses { seconds.append(pause) }
            #expect(seconds == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        }
    }

    @Test(
        "Any other error ends advertising",
        arguments: [.adapterClosed, .cancelled, .invalidParameters] as [BluetoothError])
    func ends(_ error: BluetoothError) async {
        let clock = HandClock()
        await TimeLimits.$clock.withValue(clock) {
            let waker = Task { for await pause in clock.sleeps { clock.advance(by: pause) } }
            defer { waker.cancel() }
            await #expect(throws: error) {
                try await AdvertisingRenewal.keep(0) { _ throws(BluetoothError) in
                    throw Self.refusal
                } begin: {
                    throw error
                }
            }
        }
    }
}
