import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing

@Suite("A host that pairs again after a failure")
struct PairingAgainTests {
    private func outcomes(
        _ world: inout HostWorld, _ pair: HostWorld.Pair, refusing: LinkRole? = nil
    ) throws -> [LinkRole: Result<KeyStrength, PairingError>] {
        try world.answerPairing(pair, .comparing, refusing: refusing).compactMapValues(\.outcome)
    }

    @Test(
        "A call to pair after a Security Request and a failed pairing waits, and then pairs",
        arguments: LinkRole.allCases,
        LinkRole.allCases)
    func callAfterFailure(_ refusing: LinkRole, _ caller: LinkRole) throws {
        var world = HostWorld()
        let first = world.startSecure(), second = world.startSecure()
        let pair = try world.connectSecure(first, to: second)
        try world.hosts[second].pair(pair.peripheralLink, .comparing, at: world.now)
        let failed = try outcomes(&world, pair, refusing: refusing)
        #expect(failed[refusing] == .failure(.local(.numericComparisonFailed)))
        #expect(failed[refusing == .central ? .peripheral : .central] == .failure(.peer(.numericComparisonFailed)))

        let (index, link) = caller == .central ? (first, pair.centralLink) : (second, pair.peripheralLink)
        try world.hosts[index].pair(link, .comparing, at: world.now)
        #expect(world.hosts[index].isSecurityPending(on: link))
        let strength = KeyStrength(model: .numericComparison, usesSecureConnections: true, keySize: 16)
        #expect(try outcomes(&world, pair) == [.central: .success(strength), .peripheral: .success(strength)])
    }
}
