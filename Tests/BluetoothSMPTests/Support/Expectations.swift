import BluetoothSMP
import Testing

extension PairingCouple {
    /// Both have ended with the same model and the same keys.
    func expectEqualKeys(
        model: AssociationModel, secure: Bool, keySize: UInt8 = 16, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard let central = central.result, let peripheral = peripheral.result else {
            Issue.record(
                "no result: \(String(describing: self.central.outcome)), \(String(describing: self.peripheral.outcome))",
                sourceLocation: sourceLocation)
            return
        }
        let strength = KeyStrength(model: model, usesSecureConnections: secure, keySize: keySize)
        #expect(central.strength == strength, sourceLocation: sourceLocation)
        #expect(peripheral.strength == strength, sourceLocation: sourceLocation)
        #expect(isEncrypted, sourceLocation: sourceLocation)
        #expect(central.isBonded == peripheral.isBonded, sourceLocation: sourceLocation)
        #expect(central.centralKey == peripheral.peripheralKey, sourceLocation: sourceLocation)
        #expect(central.peripheralKey == peripheral.centralKey, sourceLocation: sourceLocation)
        #expect(central.localSignatureKey == peripheral.peerSignatureKey, sourceLocation: sourceLocation)
        #expect(central.peerSignatureKey == peripheral.localSignatureKey, sourceLocation: sourceLocation)
        guard central.isBonded else { return }
        #expect(central.centralKey != nil, sourceLocation: sourceLocation)
        #expect(central.peerIdentity == self.peripheral.resources.identity, sourceLocation: sourceLocation)
        #expect(peripheral.peerIdentity == self.central.resources.identity, sourceLocation: sourceLocation)
        #expect(!self.central.pairing.isUnderWay && !self.peripheral.pairing.isUnderWay, sourceLocation: sourceLocation)
        #expect(self.central.pairing.nextDeadline == nil, sourceLocation: sourceLocation)
    }
}
