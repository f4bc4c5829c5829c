import ArgumentParser
import BluetoothBase
import BluetoothHCI
import BluetoothCommandLine
import HCITransport

/// `ble monitor`: shows the current traffic of this machine's adapters.
struct Monitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the packets of the kernel's adapters as they pass.",
        discussion: HelpText.discussion(
            """
            All adapters are shown, whoever uses them, and what programs ask of the kernel's Bluetooth; it disturbs nobody. \
            Each packet is a line as of ble decode, with the time since the first, or a record of a btsnoop file. Needs \
            Linux, and the capability CAP_NET_RAW. Runs until it is ended by a signal.
            """,
            examples: [
                "sudo ble monitor", "sudo ble monitor --btsnoop trouble.btsnoop --time 60",
                "sudo ble monitor --btsnoop - | wireshark -k -i -",
            ]))

    @Option(
        help: ArgumentHelp("Write a btsnoop capture, - for standard output, instead of text.", valueName: "file"),
        completion: .file())
    var btsnoop: String?

    @Flag(help: "Print a JSON object for each packet.")
    var json = false

    @Flag(help: "Show the keys that are exchanged.")
    var keys = false

    @Option(help: ArgumentHelp("How long; by default until a signal ends it.", valueName: "seconds"))
    var time: Seconds?

    func validate() throws {
        if btsnoop != nil, json || keys {
            throw ValidationError("a capture has all of each packet; leave out --json and --keys, or --btsnoop")
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
