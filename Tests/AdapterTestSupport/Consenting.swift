import BluetoothLE

/// A pairing agent with neither display nor keyboard, which gives every peer the same answer.
package struct Consenting: PairingAgent {
    private let isAllowed: Bool

    package init(isAllowed: Bool = true) { self.isAllowed = isAllowed }

    package func allowsPairing(with peer: Connection, features: PairingFeatures) async -> Bool { isAllowed }
}
