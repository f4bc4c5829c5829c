import Foundation
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("Where bonds are stored")
struct BondDirectoryTests {
    private let state = URL(fileURLWithPath: "/state", isDirectory: true)

    @Test("Bonds of virtual controllers are stored only if a directory is set")
    func directories() {
        let port = BluetoothTransport(VirtualRadio(time: .manual).addController())
        let virtual = [port, BluetoothTransport("virtual"), BluetoothTransport("unix:/tmp/radio"), .init("nonsense")]
        for transport in virtual {
            #expect(ManagerEnvironment.bondDirectory(in: state, isChosen: false, for: transport) == nil)
            #expect(ManagerEnvironment.bondDirectory(in: state, isChosen: true, for: transport)?.path == "/state/bonds")
        }
        let adapter = BluetoothTransport("hci-socket:0")
        #expect(ManagerEnvironment.bondDirectory(in: state, isChosen: false, for: adapter)?.path == "/state/bonds")
    }
}
