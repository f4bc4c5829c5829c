import ArgumentParser
import BluetoothCommandLine
import BluetoothCrypto
import HCITransport

/// `ble radio`: provides controllers without hardware.
package struct Radio: CommandLineProgram, CommandWithoutOutput {
    package static let configuration = CommandConfiguration(
        abstract: "Provides virtual controllers in range of each other, for any host to use.",
        discussion: HelpText.discussion(
            """
            Each transport has one controller, for one host at a time. When a host disconnects, its controller is \
            reset, and the next host can connect. Runs until a signal ends it.

            For example, run ble radio unix-server:a unix-server:b. Then run peripheral --transport unix-client:a and \
            central --transport unix-client:b in two other terminals.

            The kernel of this machine can also use the controllers, for bluetoothd and every other program: sudo ble \
            radio vhci vhci adds two adapters, such as hci0 and hci1, in range of each other.

            With --fault SEED, simulates bad weather. The same seed causes the same faults for the same packets. Use \
            it to test any stack: a robust one recovers from every fault, if necessary by resetting its controller. \
            With -v, reports each fault in a line.
            """,
            examples: [
                "ble radio unix-server:a unix-server:b", "ble radio --fault 7 -v tcp-server:_:6402 tcp-server:_:6403",
                "sudo ble radio vhci vhci",
            ]))

    @Argument(
        help: ArgumentHelp(
            "Where hosts connect: unix-server:PATH, tcp-server:HOST:PORT or pty[:LINK]; unix-client, tcp-client and "
                + "serial connect to a host; vhci is the kernel.",
            valueName: "transport"),
        transform: TransportName.init)
    var transports: [TransportName]

    @Option(help: "The seed for all random bits on the air.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "The path loss between all controllers. At 96 or more, they are out of range.", valueName: "dB"))
    var pathLoss = 50

    @Option(help: ArgumentHelp("Record the packets to and from all controllers, for Wireshark.", valueName: "file"))
    var btsnoop: String?

    @Option(
        help: ArgumentHelp(
            "Simulate bad weather from this seed: signals fade, and controllers answer late, twice or not at all, "
                + "withhold credits, miscount, fall silent, truncate packets or reset.",
            valueName: "seed"))
    var fault: UInt64?

    @Option(
        help: ArgumentHelp(
            "The delay of each packet between a controller and its host, in each direction.", valueName: "ms"))
    var delay = 0

    @Flag(
        inversion: .prefixedNo, exclusivity: .exclusive,
        help:
            "Give the controllers extended advertising, with long data, several sets, periodic advertising, LE 2M and LE Coded."
    )
    var extended = true

    @Flag(name: .shortAndLong, help: "Report each fault.")
    var verbose = false

    @Flag(help: "Print each packet that a host sends or receives, as a line on standard error.")
    var trace = false

    package init() {}

    package func validate() throws {
        for transport in transports where !transport.carriesHosts {
            throw ValidationError(
                "\(transport) is itself a controller; use a unix-, tcp-, serial, pty or vhci transport for hosts")
        }
        guard (0...200).contains(pathLoss) else { throw ValidationError("--path-loss must be from 0 to 200 dB") }
        guard (0...10_000).contains(delay) else { throw ValidationError("--delay must be from 0 to 10000 ms") }
    }

    package func run() async throws {
        if let reason = LibraryToolbox.unavailability { say("the controllers do not support encryption: \(reason)") }
        let server = try RadioServer(
            RadioServer.Options(
                seed: seed, isExtended: extended, capture: btsnoop, fault: fault, delay: .milliseconds(delay),
                isVerbose: verbose, isTraced: trace))
        let waker = server.waker, cancellation = try Waker()
        try await withTaskCancellationHandler {
            for transport in transports { try server.add(transport, cancellation: cancellation) }
            server.setPathLoss(pathLoss)
            // Blocks this thread, which the program does not need for anything else.
            try server.run(until: { Task.isCancelled })
        } onCancel: {
            cancellation.wake()
            waker.wake()
        }
    }
}

extension TransportName {
    /// Whether a host may be at the other end.
    fileprivate var carriesHosts: Bool {
        switch self {
        case .tcpClient, .tcpServer, .unixClient, .unixServer, .serial, .pty, .vhci: true
        case .virtual, .hciSocket: false
        }
    }
}
