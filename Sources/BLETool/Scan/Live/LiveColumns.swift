import BluetoothLE
import BluetoothCommandLine

/// The columns of the table, as many as there is room for.
struct LiveColumns {
    private static let gap = 2
    private static let addressWidth = 19
    private static let barWidth = 8
    private static let seenWidth = 4

    private let nameWidth: Int
    /// 0 where there is no room.
    private let vendorWidth: Int
    private let historyWidth: Int
    private let detailWidth: Int

    init(columns: Int) {
        nameWidth = columns < 80 ? 12 : columns < 120 ? 18 : 24
        vendorWidth = columns < 100 ? 0 : columns < 140 ? 14 : 20
        historyWidth = columns < 72 ? 0 : SignalHistory.count
        let fixed = [nameWidth, Self.addressWidth, vendorWidth, 4, Self.barWidth, historyWidth, Self.seenWidth]
        detailWidth = columns - fixed.reduce(0) { $0 + ($1 == 0 ? 0 : $1 + Self.gap) }
    }

    var header: String {
        cells([
            ("Name", nameWidth), ("Address", Self.addressWidth), ("Vendor", vendorWidth), ("dBm", 4),
            ("Signal", Self.barWidth), ("", historyWidth), ("Seen", Self.seenWidth),
            ("Services and values", detailWidth),
        ])
    }

    func row(_ device: ScannedDevice, at now: Instant, _ palette: Palette) -> String {
        let look = device.look, sighting = device.sighting
        let rssi = sighting.rssi.map { "\($0)" } ?? "?"
        let strength = Self.level(sighting.rssi)
        let age = max(.zero, sighting.lastSeen.duration(to: now))
        let style: Palette.Style = strength > 0.6 ? .green : strength > 0.3 ? .yellow : .red
        let line = [
            palette(.bold, CellText.fitted(look.name ?? "", to: nameWidth)),
            CellText.fitted(
                sighting.isAnonymous ? "anonymous" : sighting.address.description, to: Self.addressWidth),
            CellText.fitted(look.vendor ?? "", to: vendorWidth),
            String(repeating: " ", count: max(0, 4 - rssi.utf8.count)) + rssi,
            palette(style, Self.bar(strength)),
            historyWidth == 0 ? "" : palette(.cyan, Self.sparkline(device.signal.seconds(at: now))),
            CellText.fitted(Self.text(age), to: Self.seenWidth), CellText.fitted(Self.details(look), to: detailWidth),
        ]
        let isOld = age > .seconds(10)
        let text = line.filter { !$0.isEmpty }.joined(separator: String(repeating: " ", count: Self.gap))
        return isOld ? palette(.dim, text) : text
    }

    private func cells(_ cells: [(String, Int)]) -> String {
        cells.filter { $0.1 > 0 }.map { CellText.fitted($0.0, to: $0.1) }
            .joined(separator: String(repeating: " ", count: Self.gap))
    }

    /// From 0 for what can barely be received to 1 for a device close by.
    private static func level(_ rssi: Int8?) -> Double {
        rssi.map { min(max((Double($0) + 100) / 70, 0), 1) } ?? 0
    }

    /// Eighths of a cell.
    private static let blocks = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]

    static func bar(_ level: Double) -> String {
        let eighths = Int((level * Double(8 * barWidth)).rounded())
        return (0..<barWidth).map { blocks[min(max(eighths - 8 * $0, 0), 8)] }.joined()
    }

    private static let heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// A cell for each second; nothing where the device was not received.
    static func sparkline(_ seconds: [Int8?]) -> String {
        seconds.map { rssi in rssi.map { heights[min(Int(level($0) * 8), 7)] } ?? " " }.joined()
    }

    /// How long ago that is: `now`, `7s`, `12m`, `3h`.
    static func text(_ age: Duration) -> String {
        let seconds = age.nanoseconds / 1_000_000_000
        switch seconds {
        case 0: return "now"
        case ..<100: return "\(seconds)s"
        case ..<6000: return "\(seconds / 60)m"
        default: return "\(min(seconds / 3600, 999))h"
        }
    }

    /// What a device says: its values first, then its services.
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
