import AdapterTestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

/// Attacks by a new pairing, as an application sees them.
@Suite("Re-pairing attacks on applications that accept every pairing")
struct RepairingTests {
    @Test(
        "A central that lost its bond, or spoofs a bonded address, cannot pair until the bond is removed")
    func centralImpersonation() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await scene.central.connect(to: scene.address)
                try await connection.pair()
                try await connection.disconnect()
                let bond = try #require(await scene.peripheral.bonds.first)
                try await scene.central.removeBond(with: PeerID(scene.address))

                let impersonator = try await scene.central.connect(to: scene.address)
                await #expect(throws: BluetoothError.pairingFailed(.peer(.authenticationRequirements))) {
                    try await impersonator.pair()
                }
                #expect(try await scene.peripheral.bonds == [bond])
                // The application's word: the device was reset.
                try await scene.peripheral.removeBond(with: bond.peer)
                try await impersonator.pair()
                #expect(try await scene.peripheral.bonds.count == 1)
            }
        }
    }

    @Test("A peripheral that spoofs a bonded address is not paired with, even if it requests security at once")
    func peripheralImpersonation() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            try await scene.central.withPairingAgent(Consenting()) {
                try await scene.peripheral.withPairingAgent(Consenting()) {
                    let connection = try await scene.central.connect(to: scene.address)
                    try await connection.pair()
                    try await connection.disconnect()
                    let bonds = try await scene.central.bonds
                    let lost = try #require(await scene.peripheral.bonds.first)
                    try await scene.peripheral.removeBond(with: lost.peer)

                    let events = scene.peripheral.events()
                    async let asking: Void = {
                        for try await case .connected(let connection) in events {
                            await #expect(throws: BluetoothError.self) {
                                try await connection.pair(PairRequest(requiresAuthentication: true))
                            }
                            return
                        }
                    }()
                    await #expect(throws: BluetoothError.disconnected(.encryption(.pinOrKeyMissing))) {
                        _ = try await scene.central.connect(to: scene.address)
                    }
                    try await asking
                    #expect(try await scene.central.bonds == bonds)
                    #expect(try await scene.peripheral.bonds.isEmpty)
                }
            }
        }
    }
}
