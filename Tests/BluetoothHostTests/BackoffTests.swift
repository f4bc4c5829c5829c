import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

/// What would keep host and controller as busy as they can be is tried again after longer and longer waits.
struct BackoffTests {
    static let stranger = DeviceAddress(0xC0_FF_EE_00_00_02, kind: .public)

    /// When something was tried again: in milliseconds since the time before.
    private func waits(_ instants: [Instant]) -> [Int64] {
        zip(instants, instants.dropFirst()).map { $0.duration(to: $1) / .milliseconds(1) }.map { Int64($0) }
    }

    /// Lets a controller spoil each try until a time has passed, and says when they were made.
    private func tries(
        of opcode: HCIOpcode, _ controller: inout ScriptedController, for duration: Duration,
        _ spoil: (inout ScriptedController) -> Void
    ) -> [Instant] {
        let end = controller.now.advanced(by: duration)
        var instants: [Instant] = []
        while controller.now <= end, instants.count < 100 {
            if controller.takeOpcodes().contains(opcode) {
                instants.append(controller.now)
                spoil(&controller)
            } else if let deadline = controller.host.nextDeadline {
                controller.run(for: max(.zero, controller.now.duration(to: deadline)))
            } else {
                break
            }
        }
        return instants
    }

    static let doubling: [Int64] = [0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]

    @Test("The wait is zero at first, doubles up to a limit, and resets after a while or a success")
    func doubling() {
        var backoff = Backoff()
        var now = Instant.zero
        var waits: [Int64] = []
        for _ in 0..<10 {
            backoff.failed(at: now)
            let deadline = backoff.deadline ?? now
            waits.append(Int64(now.duration(to: deadline) / .milliseconds(1)))
            #expect(backoff.waits(at: deadline) == false)
            now = deadline
        }
        #expect(waits == Self.doubling)
        backoff.failed(at: now.advanced(by: .seconds(21)))
        #expect(backoff.deadline == nil)
        backoff.failed(at: now.advanced(by: .seconds(22)))
        #expect(backoff.deadline != nil)
        backoff.succeeded()
        #expect(backoff.deadline == nil)
        // As if there had been no failure before.
        backoff.failed(at: now.advanced(by: .seconds(23)))
        #expect(backoff.deadline == nil)
    }

    /// What a controller makes of an attempt to connect.
    enum Spoiling: CaseIterable, Sendable {
        /// It connects to another address than the one asked for.
        case otherPeer
        /// It says that the attempt was called off, which nobody did.
        case calledOff
        /// None of several peers could be connected to, and it does not say which.
        case nobody
    }

    @Test(
        "Failed connection attempts are retried with increasing delays",
        arguments: Spoiling.allCases)
    func connecting(_ spoiling: Spoiling) throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        if spoiling == .nobody {
            let other = DeviceAddress(0xC0_FF_EE_00_00_03, kind: .public)
            _ = try controller.host.connect(to: PeerID(other), timeout: nil, at: controller.now)
            controller.settle()
            // The first one alone, then both.
            controller.reportConnection(0, status: .unknownConnectionIdentifier)
        }
        controller.settle()
        let tries = tries(of: .leCreateConnection, &controller, for: .seconds(30)) { controller in
            switch spoiling {
            case .otherPeer:
                controller.reportConnection(0x40, peer: Self.stranger)
                controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
            case .calledOff: controller.reportConnection(0, status: .unknownConnectionIdentifier)
            case .nobody:
                controller.reportConnection(
                    0, peer: DeviceAddress(0, kind: .public), status: .connectionFailedToBeEstablished)
            }
        }
        #expect(waits(tries) == Array(Self.doubling.prefix(tries.count - 1)))
        #expect(tries.count == 10)
        if spoiling == .otherPeer {
            #expect(controller.host.faults[.connectionUnexpected] == UInt64(tries.count))
        }
        #expect(controller.takeEvents() == [], "the attempt goes on")
        // What was asked for comes about as soon as the controller does it.
        controller.run(for: .seconds(10))
        controller.reportConnection()
        controller.reportFeatures()
        #expect(controller.takeEvents().contains { $0.hasPrefix("connected") })
    }

    @Test("A cancelled connection that is established anyway is not a fault and causes no delay")
    func calledOff() throws {
        var controller = ScriptedController.ready()
        for _ in 0..<5 {
            let attempt = try controller.host.connect(
                to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
            controller.settle()
            #expect(controller.takeOpcodes().last == .leCreateConnection)
            controller.host.cancelConnecting(attempt, at: controller.now)
            controller.settle()
            controller.reportConnection()
            controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        }
        #expect(controller.host.faults[.connectionUnexpected] == 0)
    }

    @Test("A connection that nobody requested is ended and counted as a fault")
    func unexpected() {
        var controller = ScriptedController.ready()
        controller.reportConnection()
        #expect(controller.takeOpcodes() == [.disconnect])
        #expect(controller.host.faults[.connectionUnexpected] == 1)
        #expect(controller.takeEvents() == [])
    }

    @Test("Links that end immediately delay advertising, by one second at most", arguments: [false, true])
    func advertising(_ isReported: Bool) throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(AdvertisingParameters(data: []), at: controller.now)
        controller.settle()
        let tries = tries(of: .leSetAdvertisingEnable, &controller, for: .seconds(6)) { controller in
            if isReported {
                controller.reportConnection(0x41, role: .peripheral)
                controller.reportDisconnection(0x41, .remoteUserTerminatedConnection)
            } else {
                controller.reportConnection(0x41, role: .peripheral, status: .connectionFailedToBeEstablished)
            }
        }
        // Each time once more before it is known what became of the last one.
        #expect(waits(tries).starts(with: [0, 0, 200, 0, 800, 0, 1000, 0, 1000, 0, 1000]), "\(waits(tries))")
        if isReported { #expect(controller.host.faults[.linkShortLived] > 5) }
    }

    @Test("An application that stops advertising with each link and then restarts it is also delayed")
    func advertisingAnew() throws {
        var controller = ScriptedController.ready()
        for wait in [0, 0, 100, 200, 400, 800, 1000, 1000] {
            try controller.host.startAdvertising(AdvertisingParameters(data: []), at: controller.now)
            controller.settle()
            let begin = controller.now
            while !controller.takeOpcodes().contains(.leSetAdvertisingEnable),
                begin.duration(to: controller.now) < .seconds(5)
            {
                controller.run(for: .milliseconds(100))
            }
            #expect(begin.duration(to: controller.now) == .milliseconds(wait))
            controller.reportConnection(0x41, role: .peripheral)
            controller.host.stopAdvertising(at: controller.now)
            controller.settle()
            controller.reportDisconnection(0x41, .remoteUserTerminatedConnection)
            controller.commands.removeAll()
        }
    }

    @Test("Links that last do not delay advertising")
    func usefulLinks() throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(AdvertisingParameters(data: []), at: controller.now)
        for _ in 0..<20 {
            controller.settle()
            #expect(controller.takeOpcodes().contains(.leSetAdvertisingEnable))
            controller.reportConnection(0x41, role: .peripheral)
            controller.run(for: .milliseconds(100))
            controller.reportDisconnection(0x41, .remoteUserTerminatedConnection)
        }
        #expect(controller.host.faults[.linkShortLived] == 0)
    }
}
