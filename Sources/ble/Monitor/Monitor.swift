import ArgumentParser
import BluetoothBase
import BluetoothHCI
import BluetoothCommandLine
import HCITransport

/// `ble monitor`: shows the current traffic of this machine's adapters.
struct Monitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the packets of the kernel's adapters live.",
        discussion: HelpText.discussion(
            """
            Shows the packets of all adapters, whichever program uses them, and the requests of programs to the \
            kernel's Bluetooth, without disturbing them. Each packet is a line in the format of ble decode, with the \
            time since the first packet, or a record of a btsnoop file. Needs Linux and the capability CAP_NET_RAW. \
            Runs until a signal ends it.
            """,
            examples: [
                "sudo ble monitor", "sudo ble monitor --btsnoop trouble.btsnoop --time 60",
                "sudo ble monitor --btsnoop - | wireshark -k -i -",
            ]))

    @Option(
        help: ArgumentHelp(
            "Write a btsnoop capture to this file, or to standard output for -, instead of text.", valueName: "file"),
        completion: .file())
    var btsnoop: String?

    @Flag(help: "Print a JSON object for each packet.")
    var json = false

    @Flag(help: "Show the keys that are exchanged.")
    var keys = false

    @Option(help: ArgumentHelp("How long to run; by default until a signal ends it.", valueName: "seconds"))
    var time: Seconds?

    func validate() throws {
        if btsnoop != nil, json || keys {
            throw ValidationError(
                "a capture always contains whole packets; leave out --json and --keys, or --btsnoop")
        }
    }

    func run() async throws {
        let monitor = try HCIMonitor()
        var output = try MonitorOutput(form)
        let loop = try EventLoop(), waker = loop.waker
        try loop.add(monitor.fileDescriptor, token: 0, for: .read)
        let end = time.map { MonotonicClock.now.advanced(by: $0.duration) }
        try await withTaskCancellationHandler {
            // Blocks this thread, which the program does not need for anything else.
            while !Task.isCancelled, end.map({ MonotonicClock.now < $0 }) ?? true {
                guard !loop.wait(until: end).isEmpty else { continue }
                try monitor.receive { record, packet in output.append(record, packet) }
                try output.flush()
            }
        } onCancel: {
            waker.wake()
        }
    }

    private var form: MonitorOutput.Form {
        switch btsnoop {
        case "-": .capture
        case let path?: .file(path)
        case nil: .text(CaptureDecoder(showsKeys: keys, format: json ? .json : .text))
        }
    }
}
