import BluetoothAdapter
import BluetoothBase
import BluetoothCrypto
import BluetoothHost
import BluetoothSMP
import Testing
import VirtualRadio

@Suite("Bonds from earlier runs")
struct RestoredBondsTests {
    @Test("A device loads its bonds as soon as its controller is ready, even without users")
    func withoutUsers() throws {
        let radio = VirtualRadio(time: .manual), store = MemoryBondStore()
        let local = BondSamples.local, bond = BondSamples.full()
        try store.keep(local, for: local.address)
        try store.save(bond, of: local)
        let port = radio.addController { $0.publicAddress = local.address }
        var host = HostConfiguration(seed: 1)
        host.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 2)
        var options = AdapterOptions(host: host)
        options.bonds = store
        let runner = try AdapterRunner(port, options: options)
        radio.advanceHosts(by: .seconds(1))
        #expect(runner.bonds.map(\.peer) == [bond.peer])
        runner.close()
    }
}
