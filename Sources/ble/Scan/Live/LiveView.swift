import BluetoothLE
import BluetoothCommandLine

/// The table of a scan on a terminal: the devices it shows, their order, and the scroll position.
struct LiveView {
    /// The criterion by which devices are sorted.
    enum Order: String, CaseIterable {
        case signal, name, address, seen, found
    }

    /// The action that a key requests.
    enum Action {
        case redraw, quit, forget
    }

    private(set) var order = Order.signal
    private(set) var isReversed = false
    private(set) var isPaused = false
    /// Only devices with this text in their name, address, vendor, services or formats are shown.
    private(set) var filter = ""
    private var isTyping = false
    /// The number of devices above the first one shown.
    private(set) var offset = 0
    private var pageLength = 1
    /// The lines that were shown when the view was paused.
    private var frozen: [String]?

    private static let longestFilter = 64
    private let palette: Palette

    init(palette: Palette) { self.palette = palette }

    // MARK: - Keys

    mutating func press(_ key: LiveKey) -> Action {
        if isTyping { return type(key) }
        switch key {
        case .character("q"): return .quit
        case .character("s"): order = Order.allCases[(Order.allCases.firstIndex(of: order) ?? 0) + 1, default: .signal]
        case .character("r"): isReversed.toggle()
        case .character("/"): isTyping = true
        case .character("p"), .character(" "):
            isPaused.toggle()
            frozen = nil
        case .character("c"):
            offset = 0
            return .forget
        case .escape: filter = ""
        case .up, .character("k"): offset -= 1
        case .down, .character("j"): offset += 1
        case .pageUp: offset -= pageLength
        case .pageDown: offset += pageLength
        case .home, .character("g"): offset = 0
        case .end, .character("G"): offset = .max / 2
        default: break
        }
        offset = max(0, offset)
        return .redraw
    }

    private mutating func type(_ key: LiveKey) -> Action {
        switch key {
        case .enter: isTyping = false
        case .escape: (isTyping, filter) = (false, "")
        case .backspace: _ = filter.popLast()
        case .character(let character) where filter.count < Self.longestFilter: filter.append(character)
        default: break
        }
        offset = 0
        return .redraw
    }

    // MARK: - Lines

    /// The lines of the screen, none wider than the screen.
    mutating func lines(_ table: borrowing ScanTable, at now: Instant, size: LiveScreen.Size) -> [String] {
        if isPaused, let frozen { return Array(frozen.dropLast()) + [footer(size.columns)] }
        let layout = LiveColumns(columns: size.columns)
        var shown = table.sets { $0.isMatch && matches($0) }
        let matchCount = shown.count
        sort(&shown)
        pageLength = max(1, size.rows - 3)
        offset = min(offset, max(0, matchCount - pageLength))
        let page = shown[offset..<min(offset + pageLength, matchCount)]
        var lines = [title(table, matchCount, size.columns), palette(.bold, layout.header)]
        lines += page.map { layout.row($0, at: now, palette) }
        lines += Array(repeating: "", count: max(0, size.rows - lines.count - 1))
        lines = Array(lines.prefix(max(0, size.rows - 1))) + [footer(size.columns)]
        if isPaused { frozen = lines }
        return lines
    }

    private func title(_ table: borrowing ScanTable, _ count: Int, _ columns: Int) -> String {
        let total = table.setCount == 1 ? "1 device" : "\(table.setCount) devices"
        var text = count == table.setCount ? total : "\(count) of \(total)"
        text += ", by \(order.rawValue)\(isReversed ? ", reversed" : "")"
        if !filter.isEmpty { text += ", with \"\(filter)\"" }
        if isPaused { text += ", paused" }
        if offset > 0 { text += ", starting at \(offset + 1)" }
        return CellText.fitted(text, to: columns)
    }

    private func footer(_ columns: Int) -> String {
        let text =
            isTyping
            ? "filter: \(filter)_  (Enter: keep, Esc: clear)"
            : "q quit  s sort  r reverse  / filter  p pause  c clear  arrows scroll"
        return palette(.dim, CellText.fitted(text, to: columns))
    }

    private func matches(_ device: ScannedSet) -> Bool {
        guard !filter.isEmpty else { return true }
        let look = device.look, wanted = filter.lowercased()
        let texts =
            [look.name ?? "", look.vendor ?? "", device.sighting.address.description]
            + look.matchableServices.flatMap { [$0.description, DeviceLook.name(of: $0)] }
            + look.values.map { Swift.type(of: $0).formatName }
        return texts.contains { $0.lowercased().contains(wanted) }
    }

    private func sort(_ devices: inout [ScannedSet]) {
        devices.sort { first, second in
            let (a, b) = isReversed ? (second, first) : (first, second)
            switch order {
            case .signal: return (a.signal.average ?? -200) > (b.signal.average ?? -200)
            case .name:
                // Devices without a name come last.
                return (a.look.name == nil ? 1 : 0, a.look.name ?? "", a.sighting.address.value)
                    < (b.look.name == nil ? 1 : 0, b.look.name ?? "", b.sighting.address.value)
            case .address: return a.sighting.address.value < b.sighting.address.value
            case .seen: return a.sighting.lastSeen > b.sighting.lastSeen
            case .found: return a.sighting.firstSeen > b.sighting.firstSeen
            }
        }
    }
}

extension Array {
    fileprivate subscript(index: Int, default value: Element) -> Element {
        indices.contains(index) ? self[index] : value
    }
}
