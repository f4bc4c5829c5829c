import ArgumentParser
import BluetoothCommandLine
import HCITransport

/// `ble radio`: provides controllers without hardware.
struct Radio: AsyncParsableCommand, CommandWithoutOutput {
    static let configuration = CommandConfiguration(
        abstract: "Provides virtual controllers in range of each other, for any host to use.",
        discussion: HelpText.discussion(
            """
            There is one controller for each transport, used by one host at a time. When a host disconnects, its \
            controller is reset, and the next host may connect. Runs until it is ended by a signal.

            In two other terminals, for example: peripheral --transport unix-client:a, central --transport unix-client:b, \
            after ble radio unix-server:a unix-server:b

            Controllers can also be given to this machine's kernel, for bluetoothd and every other program: after \
            sudo ble radio vhci vhci there are two more adapters, hci0 and hci1, in range of each other.

            With --fault SEED the weather is bad, and the same seed makes the same weather for the same packets. Any stack can \
            be tried in it: a good one gets over all of it, if need be by resetting its controller. With -v each fault is \
            said in a line.
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

    @Option(help: "The seed of all random bits on the air.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "The path loss between all controllers; from 96 on they are out of range.", valueName: "dB"))
    var pathLoss = 50

    @Option(help: ArgumentHelp("Record the packets to and from all controllers, for Wireshark.", valueName: "file"))
    var btsnoop: String?

    @Option(
        help: ArgumentHelp(
            "Bad weather from this seed: signals fade, and controllers answer late, twice or not at all, withhold credits, "
                + "miscount, fall silent, cut packets or reset themselves.",
            valueName: "seed"))
    var fault: UInt64?

    @Option(
        help: ArgumentHelp(
            "How long each packet takes between a controller and its host, in each direction.", valueName: "ms"))
    var delay = 0

    @Flag(
        inversion: .prefixedNo, exclusivity: .exclusive,
        help:
            "Give the controllers extended advertising, with long data, several sets, periodic advertising, LE 2M and LE Coded."
    )
    var extended = true

    @Flag(name: .shortAndLong, help: "Say what each fault does.")
    var verbose = false

    @Flag(help: "Show each packet that a host sends or receives, in a line on standard error.")
    var trace = false

    func validate() throws {
        for transport in transports where !transport.carriesHosts {
            throw ValidationError(
                "\(transport) is a controller itself; give a unix-, tcp-, pty or vhci transport for hosts to use")
        }
        guard (0...200).contains(pathLoss) else { throw ValidationError("--path-loss is from 0 to 200 dB") }
        guard (0...10_000).contains(delay) else { throw ValidationError("--delay is from 0 to 10000 ms") }
    }

    func run() async throws {
        let server = try RadioServer(
            RadioServer.Options(
                seed: seed, isExtended: extended, capture: btsnoop, fault: fault, delay: .milliseconds(delay),
                isVerbose: verbose, isTraced: trace))
        for transport in transports { try server.add(transport) }
        server.setPathLoss(pathLoss)
        let waker = server.waker
        try await withTaskCancellationHandler {
            // Blocks this thread, which the program does not need for anything else.
            try server.run(until: { Task.isCancelled })
        } onCancel: {
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
