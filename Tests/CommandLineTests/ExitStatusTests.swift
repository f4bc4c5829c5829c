import ArgumentParser
import BluetoothLE
import Foundation
import Testing

@testable import BluetoothCommandLine
@testable import RadioCommand
@testable import ble

/// The testing library has one too.
typealias ExitStatus = BluetoothCommandLine.ExitStatus

/// The exit status and the message of an error.
struct ExitStatusTests {
    @Test(
        "Every Bluetooth error has its exit status",
        arguments: [
            (.transport(TransportError(.connectionRefused, transport: "unix-client:a")), .transportFailed),
            (.transport(TransportError(.captureNotWritable(code: ENOSPC), transport: "a.btsnoop")), .failure),
            (.adapter(.lowEnergyNotSupported), .transportFailed),
            (.adapterClosed, .transportFailed),
            (.refusedByController(.commandDisallowed), .transportFailed),
            (.connectionFailed, .linkLost),
            (.refusedByPeer, .linkLost),
            (.disconnected(.supervisionTimeout), .linkLost),
            (.timedOut, .linkLost),
            (.att(ATTError(.readNotPermitted, for: .readRequest, at: 3)), .linkLost),
            (.invalidResponse(.echoMismatch), .linkLost),
            (.messageIncomplete(octetsReceived: 40, interruption: .disconnected(.byPeer)), .linkLost),
            (.peerNotResponding, .linkLost),
            (.messageTooLong(maximum: 100), .linkLost),
            (.malformedValue("2A37", DecodingFailure(.truncated(missing: 1), at: 1)), .linkLost),
            (.overflow, .linkLost),
            (.channelRefused(.refused(.spsmNotSupported)), .linkLost), (.channelClosed(.byPeer), .linkLost),
            (.syncEnded(.lost), .linkLost),
            (.notFound("180D"), .notFound),
            (.notSupported(.subscriptions), .notFound),
            (.invalidDefinition(.noRoom(count: 3)), .usage),
            (.advertisingDataTooLong(.controller(limit: 31)), .usage),
            (.valueTooLong(maximum: 20), .usage),
        ] as [(BluetoothError, ExitStatus)])
    func status(error: BluetoothError, expected: ExitStatus) {
        #expect(ExitStatus(error) == expected)
        #expect(Sample.failure(of: error) == CommandFailure(expected, "\(error)"))
    }

    @Test("A transport error keeps its own message")
    func transport() {
        let error = TransportError(.addressInUse, transport: "unix-server:a")
        #expect(Sample.failure(of: error) == CommandFailure(.transportFailed, "\(error)"))
    }

    @Test("A capture that cannot be written is not a failure of the controller, whichever command records it")
    func capture() async throws {
        let path = "/nowhere/a.btsnoop"
        let options = try TransportOptions.parse(["--btsnoop", path])
        let adapter = await #expect(throws: (any Error).self) { try await options.withAdapter { _ in } }
        let radio = #expect(throws: (any Error).self) { _ = try RadioServer(.init(capture: path)) }
        let monitor = #expect(throws: (any Error).self) { _ = try MonitorOutput(.file(path)) }
        let expected = CommandFailure(.failure, "\(path): the capture cannot be written: No such file or directory")
        for error in [adapter, radio, monitor] { #expect(Sample.failure(of: try #require(error)) == expected) }
    }

    @Test("The numbers of exit statuses are part of the interface")
    func numbers() {
        #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    }

    @Test("Cancelling a program prints nothing")
    func cancelled() {
        #expect(Sample.failure(of: BluetoothError.cancelled).message == nil)
        #expect(Sample.failure(of: CancellationError()).message == nil)
        #expect(Sample.failure(of: TransportError(.cancelled, transport: "tcp-client:a:1")).message == nil)
    }

    @Test(
        "Invalid arguments give one line and status 2",
        arguments: [
            (["--transport", "usb:0"], "usb:0"),
            (["--transport", "tcp-client:localhost"], "does not name a port"),
            (["--transport", "virtual"], "ble radio"),
            (["--transport", "unix-client:a", "--service", "18"], "18"),
            (["--transport", "unix-client:a", "--service", "heart"], "a UUID has 4 or 8 hexadecimal digits"),
            (["--transport", "unix-client:a", "--address", "C0:11:22:33:44"], "C0:11:22:33:44"),
            (["--transport", "unix-client:a", "--address", "C0:11:22:33:44"], "an address has six octets"),
            (["--transport", "unix-client:a", "--rssi", "5"], "a range is MIN..MAX"),
            (["--transport", "unix-client:a", "--timeout", "soon"], "a number of seconds"),
            (["--transport", "unix-client:a", "--rssi", "0..-70"], "0..-70"),
            (["--transport", "unix-client:a", "--rssi", "-70"], "-70"),
            (["--transport", "unix-client:a", "--timeout", "0"], "0"),
            (["--transport", "unix-client:a", "--tiemout", "3"], "--tiemout"),
            (["--transport", "unix-client:a", "surplus"], "surplus"),
        ])
    func usage(arguments: [String], mention: String) async throws {
        let error = await #expect(throws: (any Error).self) { _ = try await Sample.asyncParseAsRoot(arguments) }
        let failure = Sample.failure(of: try #require(error))
        let message = try #require(failure.message)
        #expect(failure.status == .usage)
        #expect(!message.contains("\n"))
        #expect(message.contains(mention), "\(message)")
    }

    @Test("The documentation has the same table of exit statuses as the help texts")
    func documentedNumbers() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let document = try String(contentsOf: root.appending(path: "Documentation/Commands.md"), encoding: .utf8)
        let help = HelpText.discussion("", examples: [])
        for status in ExitStatus.allCases {
            #expect(document.contains("| \(status.rawValue) | \(status.meaning) |"))
            #expect(help.contains("\n  \(status.rawValue)  \(status.meaning)"))
        }
    }

    @Test("Valid arguments are accepted")
    func parsing() async throws {
        let arguments = [
            "--transport", "unix-client:a", "--service", "180D", "--address", "C0:11:22:33:44:55", "--rssi", "-70..0",
            "--timeout", "2.5",
        ]
        let sample = try #require(try await Sample.asyncParseAsRoot(arguments) as? Sample)
        #expect(sample.service == "180D")
        #expect(sample.address == DeviceAddress("C0:11:22:33:44:55"))
        #expect(sample.rssi?.range == -70...0)
        #expect(sample.timeout.duration == .milliseconds(2500))
    }
}

/// A program with an argument of each kind.
private struct Sample: CommandLineProgram {
    @OptionGroup var transport: TransportOptions
    @Option var service: BluetoothUUID?
    @Option var address: DeviceAddress?
    @Option(parsing: .unconditional) var rssi: SignalStrengths?
    @Option var timeout = Seconds(30)
}
