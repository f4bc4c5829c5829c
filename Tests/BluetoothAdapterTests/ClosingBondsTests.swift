import AdapterTestSupport
import BluetoothBase
import BluetoothCrypto
import BluetoothGAP
import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import Dispatch
import Synchronization
import TestSupport
import Testing
import VirtualRadio

@testable import BluetoothAdapter

/// An adapter that closes while bonds are being written.
@Suite("Closing while bonds are being written", .timeLimit(.minutes(1)))
struct ClosingBondsTests {
    private final class Failures: Sendable {
        private let all = Mutex<[BondStoreError]>([])
        var errors: [BondStoreError] { all.withLock { $0 } }
        func report(_ error: BondStoreError) { all.withLock { $0.append(error) } }
    }

    private let bond = BondSamples.full()
    private let store = MemoryBondStore()
    private let failures = Failures()

    /// The options of an adapter with one bond.
    private func options(_ bonds: any BondStore) throws -> AdapterOptions {
        let local = BondSamples.local
        try store.keep(local, for: local.address)
        try store.save(bond, of: local)
        var options = AdapterOptions(host: HostConfiguration(seed: 1))
        options.host.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        options.bonds = bonds
        options.reportBonds = { [failures] in failures.report($0) }
        return options
    }

    private var storedBonds: Int { (try? store.bonds(of: BondSamples.local).count) ?? -1 }

    /// An adapter with one bond, whose disk takes this long for each change.
    private func witness(on radio: VirtualRadio, disk latency: Duration) throws -> Witness {
        var options = try options(store)
        options.simulatedWrites = { SimulatedWrite(latency: latency) }
        let port = radio.addController { $0.publicAddress = BondSamples.local.address }
        return try Witness(AdapterRunner(port, options: options))
    }

    @Test("Links are disconnected while bonds are being written, even if the disk hangs")
    func links() throws {
        for (latency, releaseTime) in [(Duration.milliseconds(200), 200), (.seconds(60), 500)] {
            let radio = VirtualRadio(time: .manual)
            let sensor = try witness(on: radio, disk: latency), phone = try Witness(on: radio)
            sensor.post(.advertise(AdvertisingRequest(AdvertisementData())), 2)
            radio.advanceHosts(by: .milliseconds(1))
            phone.post(.connect(PeerID(try #require(sensor.runner.information?.address)), ConnectRequest()), 3)
            radio.advanceHosts(by: .seconds(2))
            _ = (sensor.take(), phone.take())
            sensor.post(.removeBond(bond.peer), 5)
            #expect(sensor.take() == [])
            let ends = Mutex(0)
            sensor.runner.close { ends.withLock { $0 += 1 } }
            let lines = sensor.take()
            #expect(lines.last == "closed" && lines.count { $0.hasPrefix("5 ") } == 1, "its user does not wait")
            radio.advanceHosts(by: .milliseconds(100))
            #expect(phone.take() == ["ended: the peer ended the connection"])
            radio.advanceHosts(by: .milliseconds(releaseTime - 101))
            #expect(!sensor.runner.isReleased && ends.withLock { $0 } == 0)
            radio.advanceHosts(by: .milliseconds(1))
            #expect(sensor.runner.isReleased && ends.withLock { $0 } == 1)
            #expect(storedBonds == (latency < .seconds(1) ? 0 : 1))
            #expect(failures.errors == (latency < .seconds(1) ? [] : [.abandoned(count: 1)]))
        }
    }

    @Test("Without a link, closing waits only for the disk, and for half a second at most")
    func noLink() throws {
        let radio = VirtualRadio(time: .manual)
        let witness = try witness(on: radio, disk: .seconds(60))
        _ = witness.take()
        witness.post(.removeBond(bond.peer), 5)
        witness.runner.close()
        #expect(witness.take().last == "closed")
        radio.advanceHosts(by: .milliseconds(499))
        #expect(!witness.runner.isReleased)
        radio.advanceHosts(by: .milliseconds(1))
        #expect(witness.runner.isReleased && failures.errors == [.abandoned(count: 1)])
    }

    @Test("With a writer thread, the controller is released while the disk hangs, and closing ends after the write")
    func thread() async throws {
        let radio = VirtualRadio(time: .system), gated = GatedBondStore(store)
        let port = radio.addController { $0.publicAddress = BondSamples.local.address }
        let runner = try AdapterRunner(port, options: options(gated))
        let witness = Witness(runner)
        while runner.bonds.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        witness.post(.removeBond(bond.peer), 5)
        await gated.reached()
        let ended = AsyncStream.makeStream(of: Void.self), hasEnded = Atomic(false)
        runner.close {
            hasEnded.store(true, ordering: .relaxed)
            ended.continuation.finish()
        }
        #expect(witness.take().last == "closed")
        #expect(runner.isReleased && !hasEnded.load(ordering: .relaxed))
        gated.open()
        for await _ in ended.stream {}
        #expect(storedBonds == 0 && failures.errors == [])
    }

    @Test("A change of bonds fails at once if the adapter has no identity")
    func noIdentity() throws {
        let port = VirtualRadio(time: .manual).addController()
        let turns = try RunnerTurns(RunnerCore(.port(port), .port(port), options(store)), port)
        let observer = Observer()
        let user = UserID(number: 1)
        _ = turns.mailbox.put(user, observer)
        _ = turns.mailbox.put(
            HostCall(user: user, token: CallToken(rawValue: 5), kind: .removeBond(bond.peer), keepsOrder: true))
        turns.guarded.withTurn { core in
            // Bonds without the identity they were made with: the controller was never ready.
            core.shared.setIdentity(DeviceIdentity(address: bond.address, resolvingKey: 1), bonds: [bond], at: .zero)
            core.carryOut(turns.mailbox, at: .zero)
            let hasChanges = core.shared.hasBondChanges
            #expect(hasChanges)
            core.storeBonds(at: .zero)
            core.deliver()
            let bonds = core.shared.bonds
            #expect(bonds.map(\.address) == [bond.address], "a bond whose removal failed still exists")
        }
        #expect(observer.ends.withLock { $0 } == 1)
        #expect(failures.errors == [.noIdentity])
    }

    /// Counts calls that have failed.
    private final class Observer: AdapterObserver {
        let ends = Mutex(0)

        func receive(_ batch: borrowing EventBatch) {
            for event in batch.events {
                if case .ended(_, .failure) = event { ends.withLock { $0 += 1 } }
            }
        }
    }
}
