import HCITransport

/// What is told of adapters, for people and for programs.
enum AdapterLines {
    // MARK: For people

    /// A line for each adapter, in columns.
    static func table(_ adapters: [AdapterInformation]) -> [String] {
        let rows = adapters.map { adapter in
            [adapter.name, address(of: adapter) ?? "-", adapter.bus.map(name) ?? "?", remarks(on: adapter)]
        }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            // The last column is not filled up.
            zip(row, widths).dropLast().map { $0 + String(repeating: " ", count: $1 - $0.count) + "  " }.joined()
                + row[3]
        }
    }

    private static func remarks(on adapter: AdapterInformation) -> String {
        var remarks: [String]
        switch adapter.state {
        case .down: remarks = ["down"]
        case .initializing: remarks = ["being set up"]
        case .up: remarks = ["up"]
        case .held(let holder): remarks = ["in use by " + (holder.map { "\($0)" } ?? "another program")]
        }
        switch adapter.block {
        case .software: remarks.append("blocked, to unblock it: sudo rfkill unblock bluetooth")
        case .hardware: remarks.append("blocked by a switch or key of this machine")
        case nil: break
        }
        if adapter.supportsLowEnergy == false { remarks.append("without Low Energy") }
        return remarks.joined(separator: ", ")
    }

    private static func name(of bus: AdapterInformation.Bus) -> String {
        switch bus {
        case .virtual: "virtual"
        case .usb: "USB"
        case .pccard: "PC Card"
        case .uart: "UART"
        case .rs232: "RS-232"
        case .pci: "PCI"
        case .sdio: "SDIO"
        case .spi: "SPI"
        case .i2c: "I2C"
        case .smd: "SMD"
        case .virtio: "virtio"
        }
    }

    /// As a transport's name takes it.
    private static func address(of adapter: AdapterInformation) -> String? {
        adapter.address.map { AdapterSelector.address($0).description }
    }

    // MARK: For programs

    /// An adapter as a JSON object. What is not known is null.
    static func object(_ adapter: AdapterInformation) -> String {
        var state = "down", holder: AdapterHolder?
        switch adapter.state {
        case .down: break
        case .initializing: state = "initializing"
        case .up: state = "up"
        case .held(let process): (state, holder) = ("held", process)
        }
        let blocked: String? =
            switch adapter.block {
            case .software: "software"
            case .hardware: "hardware"
            case nil: nil
            }
        let members = [
            ("name", string(adapter.name)), ("index", "\(adapter.index)"), ("address", string(address(of: adapter))),
            ("bus", string(adapter.bus.map { "\($0)" })), ("state", string(state)),
            ("process", holder.map { "\($0.processIdentifier)" } ?? "null"), ("program", string(holder?.program)),
            ("blocked", string(blocked)), ("lowEnergy", adapter.supportsLowEnergy.map { "\($0)" } ?? "null"),
        ]
        return "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    /// All of it is printable ASCII.
    private static func string(_ text: String?) -> String {
        guard let text else { return "null" }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
