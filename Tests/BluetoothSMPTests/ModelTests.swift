import BluetoothBase
import BluetoothSMP
import Testing

/// Every pair of IO capabilities ends as the tables say (Core 5.4, Vol 3, Part H, 2.3.5.1): SM/CEN and SM/PER, JW, PKE,
/// OOB, SCJW, SCPK, SCOB.
struct ModelTests {
    /// Table 2.8. Lines: the responder; columns: the initiator; both in the order of the protocol's values.
    /// J Just Works, N numeric comparison, I the initiator shows a passkey, R the responder shows it, B both enter it.
    static let legacy = ["JJRJR", "JJRJR", "IIBJI", "JJJJJ", "IIRJI"]
    static let secure = ["JJRJR", "JNRJN", "IIBJI", "JJJJJ", "INRJN"]

    struct Case: CustomTestStringConvertible {
        var initiator: IOCapability
        var responder: IOCapability
        var secure: Bool
        var testDescription: String { "\(initiator), \(responder), \(secure ? "secure connections" : "legacy")" }
    }

    static let cases = IOCapability.allCases.flatMap { initiator in
        IOCapability.allCases.flatMap { responder in
            [false, true].map { Case(initiator: initiator, responder: responder, secure: $0) }
        }
    }

    func couple(_ row: Case, mitm: (Bool, Bool)) -> PairingCouple {
        var couple = PairingCouple()
        couple.central.parameters.ioCapability = row.initiator
        couple.peripheral.parameters.ioCapability = row.responder
        couple.central.parameters.requiresAuthentication = mitm.0
        couple.peripheral.parameters.requiresAuthentication = mitm.1
        // One that does not offer it is enough.
        couple.peripheral.resources.policy.offersSecureConnections = row.secure
        return couple
    }

    @Test(arguments: cases)
    func `Devices that do not require authentication use Just Works`(_ row: Case) {
        var couple = couple(row, mitm: (false, false))
        couple.pair()
        couple.expectEqualKeys(model: .justWorks, secure: row.secure)
    }

    @Test(arguments: cases, [(true, true), (true, false), (false, true)])
    func `If authentication is required, the IO capabilities determine the association model`(
        _ row: Case, _ mitm: (Bool, Bool)
    ) throws {
        let table = row.secure ? Self.secure : Self.legacy
        let line = Array(table[Int(row.responder.rawValue)])
        let expected = line[Int(row.initiator.rawValue)]
        var couple = couple(row, mitm: mitm)
        couple.pair()
        switch expected {
        case "J":
            // The device that needs it refuses.
            let refuser = mitm.1 ? PairingError.local(.authenticationRequirements) : .peer(.authenticationRequirements)
            #expect(couple.peripheral.error == refuser)
            #expect(couple.central.error != nil)
            #expect(couple.sent.last?.octets == [0x05, 0x03])
        case "N":
            couple.expectEqualKeys(model: .numericComparison, secure: true)
            #expect(couple.central.comparedNumber != nil)
            #expect(couple.central.comparedNumber == couple.peripheral.comparedNumber)
        case "I", "R", "B":
            couple.expectEqualKeys(model: .passkeyEntry, secure: row.secure)
            #expect((couple.central.shownPasskey != nil) == (expected == "I"))
            #expect((couple.peripheral.shownPasskey != nil) == (expected == "R"))
        default: Issue.record("what is \(expected)?")
        }
    }

    @Test(arguments: cases)
    func `If authentication is only requested, devices that cannot provide it pair with Just Works`(_ row: Case) {
        let line = Array((row.secure ? Self.secure : Self.legacy)[Int(row.responder.rawValue)])
        var couple = couple(row, mitm: (false, false))
        couple.central.parameters.requestsAuthentication = true
        couple.pair()
        let model: AssociationModel =
            switch line[Int(row.initiator.rawValue)] {
            case "J": .justWorks
            case "N": .numericComparison
            default: .passkeyEntry
            }
        couple.expectEqualKeys(model: model, secure: row.secure)
    }

    @Test(arguments: cases.filter(\.secure), [(true, false), (false, true), (true, true)])
    func `Out-of-band data on either side or both sides selects the out-of-band model`(_ row: Case, _ has: (Bool, Bool))
    {
        var couple = couple(row, mitm: (true, true))
        if has.0 {
            couple.central.parameters.peerOutOfBandData = couple.peripheral.resources.makeOutOfBandData()
            couple.peripheral.parameters.hasSentOutOfBandData = true
        }
        if has.1 {
            couple.peripheral.parameters.peerOutOfBandData = couple.central.resources.makeOutOfBandData()
            couple.central.parameters.hasSentOutOfBandData = true
        }
        couple.pair()
        couple.expectEqualKeys(model: .outOfBand, secure: true)
    }

    @Test(arguments: cases)
    func `A temporary key on both sides selects legacy out-of-band pairing`(_ row: Case) {
        var couple = couple(row, mitm: (true, true))
        couple.peripheral.resources.policy.offersSecureConnections = true
        couple.central.parameters.peerOutOfBandData = .temporaryKey(0x1234_5678_9ABC)
        couple.peripheral.parameters.peerOutOfBandData = .temporaryKey(0x1234_5678_9ABC)
        couple.pair()
        couple.expectEqualKeys(model: .outOfBand, secure: false)
    }

    @Test func `Pairing with different temporary keys ends with Confirm Value Failed`() {
        var couple = PairingCouple()
        couple.central.parameters.peerOutOfBandData = .temporaryKey(1)
        couple.peripheral.parameters.peerOutOfBandData = .temporaryKey(2)
        couple.pair()
        #expect(couple.peripheral.error == .local(.confirmValueFailed))
        #expect(couple.central.error == .peer(.confirmValueFailed))
    }

    @Test func `A model that the policy excludes is rejected`() {
        for (model, io) in [
            (AssociationModel.numericComparison, IOCapability.displayYesNo), (.passkeyEntry, .keyboardOnly),
        ] {
            for role in LinkRole.allCases {
                var couple = PairingCouple(PairingParameters(ioCapability: io, requiresAuthentication: true))
                couple[role].resources.policy.models.remove(model)
                couple.pair()
                #expect(couple[role].error == .local(.authenticationRequirements))
                #expect(couple.sent.last?.octets == [0x05, 0x03])
            }
        }
    }

    @Test func `A user who rejects the number or the pairing ends the pairing`() {
        let secure = PairingParameters(ioCapability: .displayYesNo, requiresAuthentication: true)
        for role in LinkRole.allCases {
            var couple = PairingCouple(secure)
            couple[role].confirmsNumbers = false
            couple.pair()
            #expect(couple[role].error == .local(.numericComparisonFailed))
        }
        var couple = PairingCouple()
        couple.peripheral.consents = false
        couple.pair()
        // SM/PER/PROT: a device that does not pair says so, and has said nothing before.
        #expect(couple.sent.map(\.octets).dropFirst() == [[0x05, 0x05]])
        #expect(couple.central.error == .peer(.pairingNotSupported))
    }
}
