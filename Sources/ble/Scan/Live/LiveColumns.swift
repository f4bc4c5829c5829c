import BluetoothLE
import BluetoothCommandLine

/// The columns of the table that fit the width of the terminal.
struct LiveColumns {
    private static let gap = 2
    private static let addressWidth = 19
    private static let strengthWidth = 4
    private static let seenWidth = 4

    /// A column with a variable width; 0 if it is omitted.
    private enum Column: Int, CaseIterable {
        case name, vendor, bar, history, details
    }

    /// The widths on a narrow terminal, for which 74 columns are enough. Values are shown, and the history of the
    /// signal is omitted.
    private static let narrow: [Column: Int] = [.name: 13, .bar: 4, .details: 20]
    /// The columns that use additional room, in this order, with the maximum width, and the minimum width at which the
    /// column is shown.
    private static let growth: [(column: Column, width: Int, least: Int)] = [
        (.history, 4, 4), (.details, 26, 0), (.name, 18, 0), (.bar, 8, 0), (.vendor, 14, 14),
        (.history, SignalHistory.count, 4), (.name, 24, 0), (.vendor, 20, 14), (.details, .max, 0),
    ]

    private let widths: [Column: Int]

    init(columns: Int) {
        var widths = Self.narrow
        let shown = [Self.addressWidth, Self.strengthWidth, Self.seenWidth] + widths.values
        var room = columns - shown.reduce(Self.gap * (shown.count - 1), +)
        if room < 0 {
            widths[.name] = 12
            widths[.details] = max(0, 20 + 1 + room)
        }
        for (column, width, least) in Self.growth {
            let now = widths[column] ?? 0
            let gap = now == 0 ? Self.gap : 0
            let grown = min(width, now + max(0, room - gap))
            guard grown > now, grown >= least else { continue }
            room -= grown - now + gap
            widths[column] = grown
        }
        self.widths = widths
    }

    private func width(of column: Column) -> Int { widths[column] ?? 0 }

    var header: String {
        cells([
            ("Name", width(of: .name)), ("Address", Self.addressWidth), ("Vendor", width(of: .vendor)),
            ("dBm", Self.strengthWidth), ("Signal", width(of: .bar)), ("", width(of: .history)),
            ("Seen", Self.seenWidth), ("Services and values", width(of: .details)),
        ])
    }

    func row(_ device: ScannedSet, at now: Instant, _ palette: Palette) -> String {
        let look = device.look, sighting = device.sighting
        let rssi = sighting.rssi.map { "\($0)" } ?? "?"
        let strength = Self.level(sighting.rssi)
        let age = max(.zero, sighting.lastSeen.duration(to: now))
        let style: Palette.Style = strength > 0.6 ? .green : strength > 0.3 ? .yellow : .red
        let line = [
            palette(.bold, CellText.fitted(look.name ?? "", to: width(of: .name))),
            CellText.fitted(
                sighting.isAnonymous ? "anonymous" : sighting.address.description, to: Self.addressWidth),
            CellText.fitted(look.vendor ?? "", to: width(of: .vendor)),
            String(repeating: " ", count: max(0, Self.strengthWidth - rssi.utf8.count)) + rssi,
            palette(style, Self.bar(strength, width: width(of: .bar))),
            history(device.signal, at: now, palette),
            CellText.fitted(Self.text(age), to: Self.seenWidth),
            CellText.fitted(Self.details(look), to: width(of: .details)),
        ]
        let isOld = age > .seconds(10)
        let text = line.filter { !$0.isEmpty }.joined(separator: String(repeating: " ", count: Self.gap))
        return isOld ? palette(.dim, text) : text
    }

    private func cells(_ cells: [(String, Int)]) -> String {
        cells.filter { $0.1 > 0 }.map { CellText.fitted($0.0, to: $0.1) }
            .joined(separator: String(repeating: " ", count: Self.gap))
    }

    /// From 0 for a signal that can barely be received to 1 for a nearby device.
    private static func level(_ rssi: Int8?) -> Double {
        rssi.map { min(max((Double($0) + 100) / 70, 0), 1) } ?? 0
    }

    /// Blocks in steps of an eighth of a cell.
    private static let blocks = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]

    static func bar(_ level: Double, width: Int) -> String {
        let eighths = Int((level * Double(8 * width)).rounded())
        return (0..<width).map { blocks[min(max(eighths - 8 * $0, 0), 8)] }.joined()
    }

    private static let heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// The latest seconds that fit in the column.
    private func history(_ signal: SignalHistory, at now: Instant, _ palette: Palette) -> String {
        let width = width(of: .history)
        return width == 0 ? "" : palette(.cyan, Self.sparkline(signal.seconds(at: now).suffix(width)))
    }

    /// One cell per second, blank if the device was not received.
    static func sparkline(_ seconds: some Sequence<Int8?>) -> String {
        seconds.map { rssi in rssi.map { heights[min(Int(level($0) * 8), 7)] } ?? " " }.joined()
    }

    /// The time since a sighting: `now`, `7s`, `12m`, `3h`.
    static func text(_ age: Duration) -> String {
        let seconds = age.nanoseconds / 1_000_000_000
        switch seconds {
        case 0: return "now"
        case ..<100: return "\(seconds)s"
        case ..<6000: return "\(seconds / 60)m"
        default: return "\(min(seconds / 3600, 999))h"
        }
    }

    /// A device's values, followed by its services.
    static func details(_ look: DeviceLook) -> String {
        let values = look.values.flatMap { value in
            value.fields.map { field in
                switch field.value {
                case .number(let number): "\(field.name) \(number)\(field.unit.isEmpty ? "" : " " + field.unit)"
                case .flag(let flag): "\(field.name) \(flag ? "yes" : "no")"
                case .text(let text): "\(field.name) \(text)"
                }
            }
        }
        let services = look.advertisement.serviceUUIDs.map(DeviceLook.name)
        return (values + services).joined(separator: ", ")
    }
}
