import HCITransport

/// The output about adapters, as text and as JSON.
enum AdapterLines {
    // MARK: For people

    /// A line for each adapter, in columns.
    static func table(_ adapters: [AdapterInformation]) -> [String] {
        let rows = adapters.map { adapter in
            [adapter.name, address(of: adapter) ?? "-", adapter.bus.map(name) ?? "?", remarks(on: adapter)]
        }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            // The last column is not padded.
            zip(row, widths).dropLast().map { $0 + String(repeating: " ", count: $1 - $0.count) + "  " }.joined()
                + row[3]
        }
    }

    private static func remarks(on adapter: AdapterInformation) -> String {
        var remarks: [String]
        switch adapter.state {
        case .down: remarks = ["down"]
        case .initializing: remarks = ["initializing"]
        case .up: remarks = ["up"]
        case .held(let holder): remarks = ["in use by " + (holder.map { "\($0)" } ?? "another program")]
        }
        switch adapter.block {
        case .software: remarks.append("blocked (to unblock: sudo rfkill unblock bluetooth)")
        case .hardware: remarks.append("blocked by a hardware switch or key")
        case nil: break
        }
        if adapter.supportsLowEnergy == false { remarks.append("no Low Energy") }
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

    /// The address in the notation of transport names.
    private static func address(of adapter: AdapterInformation) -> String? {
        adapter.address.map { AdapterSelector.address($0).description }
    }

    // MARK: For programs

    /// An adapter as a JSON object. Unknown or false properties have no member.
    static func object(_ adapter: AdapterInformation) -> String {
        var object = JSONObject()
        object.add("name", adapter.name)
        object.add("index", adapter.index)
        object.add("address", address(of: adapter))
        object.add("bus", adapter.bus.map { "\($0)" })
        switch adapter.state {
        case .down: object.add("state", "down")
        case .initializing: object.add("state", "initializing")
        case .up: object.add("state", "up")
        case .held(let holder):
            object.add("state", "held")
            object.add("process", holder?.processIdentifier)
            object.add("program", holder?.program)
        }
        object.add("blockedBy", adapter.block.map { "\($0)" })
        object.add("lowEnergy", adapter.supportsLowEnergy == true)
        object.add("withoutLowEnergy", adapter.supportsLowEnergy == false)
        return object.text
    }
}
