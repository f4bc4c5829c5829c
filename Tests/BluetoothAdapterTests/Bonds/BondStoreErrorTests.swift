import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothSMP
import Testing

/// A program acts on these errors without parsing their text.
struct BondStoreErrorTests {
    struct Case: Sendable {
        var error: BondStoreError
        var code: BondStoreError.Code
        var path: String?
        var errorNumber: Int32?
        var setAsidePath: String?
        var limit: BondStoreError.Limit?
        var maximum: Int?
        var rule: BondStoreError.Rule?
        var address: DeviceAddress?
        var abandonedCount: Int?
    }

    private static let address = DeviceAddress(0xC011_2233_4455, kind: .random)

    @Test(arguments: [
        Case(error: .noDirectory, code: .noDirectory),
        Case(error: .system("write", path: "/a", errno: 28), code: .system, path: "/a", errorNumber: 28),
        Case(error: .damaged(path: "/a", reason: "it is empty", setAside: nil), code: .damaged, path: "/a"),
        Case(
            error: .damaged(path: "/a", reason: "it is empty", setAside: "/b"), code: .damaged, path: "/a",
            setAsidePath: "/b"),
        Case(error: .laterVersion(path: "/a"), code: .laterVersion, path: "/a"),
        Case(error: .exposed(path: "/a", isDirectory: true), code: .exposed, path: "/a"),
        Case(error: .busy(path: "/a"), code: .busy, path: "/a"),
        Case(error: .full(.identities, maximum: 64), code: .full, limit: .identities, maximum: 64),
        Case(error: .invalid(.keySize), code: .invalid, rule: .keySize),
        Case(error: .identityInUse(address), code: .identityInUse, address: address),
        Case(error: .noThread, code: .noThread),
        Case(error: .overloaded(maximum: 64), code: .overloaded, maximum: 64),
        Case(error: .abandoned(count: 3), code: .abandoned, abandonedCount: 3),
        Case(error: .noIdentity, code: .noIdentity),
        Case(error: .failed(HostError.busy), code: .failed),
    ])
    func `an error has the details that belong to its code`(_ test: Case) {
        let error = test.error
        #expect(error.code == test.code && "\(error.code)" == "\(test.code)")
        #expect(error.path == test.path && error.errorNumber == test.errorNumber)
        #expect(error.setAsidePath == test.setAsidePath)
        #expect(error.limit == test.limit && error.maximum == test.maximum && error.rule == test.rule)
        #expect(error.address == test.address && error.abandonedCount == test.abandonedCount)
        #expect((error.underlyingError != nil) == (test.code == .failed))
    }

    @Test func `a program's own store throws its own error`() {
        let error = BondStoreError.failed(HostError.busy)
        #expect(error.underlyingError as? HostError == .busy)
        #expect(error == .failed(HostError.busy) && error != .failed(HostError.timedOut))
        #expect("\(error)" == "the bond store failed: \(HostError.busy)")
    }

    @Test func `errors of pairing and of removal contain the error of the store`() {
        let cause = BondStoreError.busy(path: "/a")
        let removal = BluetoothError(.bondNotStored(cause))
        #expect(removal.code == .bondNotStored && removal.underlyingError as? BondStoreError == cause)
        let pairing = BluetoothError(.pairing(.bondNotStored(cause)))
        #expect(pairing.pairingError == .bondNotStored(cause))
        for error in [removal, pairing] { #expect("\(error)".contains("\(cause)")) }
        #expect(BluetoothError(.bondNotStored(nil)).underlyingError == nil)
    }

    @Test func `an unsupported call states what is missing`() {
        let feature = BluetoothError(.unsupported(.leCoded)), unaware = BluetoothError(.server(.changeUnaware))
        #expect(feature.unsupported == .feature(.leCoded) && feature.missingFeature == .leCoded)
        #expect(unaware.unsupported == .outdatedPeer && unaware.missingFeature == nil)
        #expect(feature.code == .notSupported && unaware.code == .notSupported)
    }
}
