import BluetoothBase
import BluetoothHost

/// The phases of a peer's attribute cache, and the transitions between them.
extension AttributeCaching {
    package enum PhaseName: String, CaseIterable, Sendable {
        case unasked, reading, settled, unverified, verifying
    }

    package enum EventName: String, CaseIterable, Sendable {
        case admit, hashRead, learn, verify, verifyAfterSubscribing, useFound, drop
    }

    package static var transitions: [Transition<AttributeCaching>] {
        [
            Transition(.unasked, .admit, .reading), Transition(.unasked, .admit, .settled),
            Transition(.unasked, .drop, .unasked),
            Transition(.reading, .admit, .reading), Transition(.reading, .hashRead, .settled),
            Transition(.reading, .drop, .reading),
            Transition(.settled, .learn, .settled), Transition(.settled, .useFound, .settled),
            Transition(.settled, .learn, .unverified), Transition(.settled, .verifyAfterSubscribing, .verifying),
            Transition(.settled, .drop, .unasked),
            Transition(.unverified, .admit, .verifying), Transition(.unverified, .verify, .verifying),
            Transition(.unverified, .verifyAfterSubscribing, .verifying), Transition(.unverified, .drop, .unasked),
            Transition(.verifying, .admit, .verifying), Transition(.verifying, .hashRead, .settled),
            Transition(.verifying, .drop, .reading),
        ]
    }
}
