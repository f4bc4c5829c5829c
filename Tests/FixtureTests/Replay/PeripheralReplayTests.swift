import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import TestSupport
import Testing

/// Our host as the peripheral, with the database of the captures, against their central.
@Suite("Fixtures: replay as a peripheral")
struct PeripheralReplayTests {
    static let scenarios = ["discovery", "reads", "writes", "notifications", "errors", "mtu-exchange"]

    /// Where our server answers differently from the recorded one, and why ours is correct as well.
    struct Difference: Hashable {
        var scenario: String
        var recorded: String
        var ours: String
    }

    static let differences: Set<Difference> = [
        // Two includes are in one response only if both have 16-bit UUIDs (Vol 3, Part G, 4.5.1). The recorded server
        // truncates the longer UUID to its first two octets.
        Difference(
            scenario: "discovery", recorded: "09 08 1D 00 10 00 13 00 0F 18 1E 00 14 00 16 00 3E 1D",
            ours: "09 08 1D 00 10 00 13 00 0F 18"),
        // Without a key, the client is to pair, not to encrypt (Vol 3, Part C, 10.3.1): Insufficient Authentication.
        Difference(scenario: "errors", recorded: "01 0A 2C 00 0F", ours: "01 0A 2C 00 05"),
        // The rest of a short value may also be read: Attribute Not Long is a choice (Vol 3, Part F, 3.4.4.5).
        Difference(scenario: "errors", recorded: "01 0C 1B 00 0B", ours: "0D 6B 2E 20 49 49"),
        // The request is longer than the ATT_MTU: Invalid PDU, before its value is checked.
        Difference(scenario: "errors", recorded: "01 12 2E 00 80", ours: "01 12 00 00 04"),
        // An unknown handle is an Invalid Handle (Vol 3, Part F, 3.4.4.7), not Attribute Not Found.
        Difference(scenario: "errors", recorded: "01 0E FF 00 0A", ours: "01 0E FF 00 01"),
    ]

    @Test(
        "the recorded central gets the recorded responses, with known differences",
        arguments: scenarios.flatMap { Capture.named($0 + "-peripheral") })
    func served(_ capture: Capture) throws {
        var replay = try Replay(capture, mtu: 517)
        replay.host.server.database = try FixtureDatabase.make()
        try replay.host.startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: replay.now)
        try replay.settle()
        try replay.deliver(replay.controller.link())
        try replay.waitForLink()
        let recording = try capture.frames().filter { $0.channel == .attributeProtocol }
        let scenario = String(capture.name.dropLast("-peripheral".count).split(separator: "/")[1])
        var compared = 0
        var met: Set<Difference> = []
        for frame in recording {
            if frame.isFromController {
                try replay.deliver(replay.controller.packets(of: frame))
                try refuseAsRecorded(&replay)
            } else {
                try replay.sendUnasked(frame.payload)
            }
            try replay.settle()
            guard !frame.isFromController else { continue }
            let answer = replay.controller.takeFrame()
            compared += 1
            guard answer != frame.payload else { continue }
            met.insert(
                Difference(
                    scenario: scenario, recorded: frame.payload.hexadecimal(),
                    ours: answer?.hexadecimal() ?? "nothing"))
        }
        #expect(met == Self.differences.filter { $0.scenario == scenario })
        #expect(compared > 20)
        #expect(replay.controller.takeFrame() == nil)
    }

    /// The application of the recorded peripheral accepts no value for one characteristic.
    private func refuseAsRecorded(_ replay: inout Replay) throws {
        let requests = replay.take {
            if case .server(_, .writeRequested(let request, _, _)) = $0.event { request } else { nil }
        }
        for request in requests { try replay.host.refuse(request, with: ATTErrorCode(rawValue: 0x80)) }
    }
}
