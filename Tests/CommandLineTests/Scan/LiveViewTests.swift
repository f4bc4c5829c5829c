import BluetoothLE
import Testing

@testable import ble
@testable import BluetoothCommandLine

/// `ble scan` on a terminal: what is drawn, and what keys do.
struct LiveViewTests {
    private let size = LiveScreen.Size(columns: 120, rows: 6)
    private let now = Instant(nanoseconds: 5_000_000_000)

    private func table(_ names: [String]) -> ScanTable {
        var table = ScanTable()
        for (index, name) in names.enumerated() {
            let data = advertised { $0.localName = .complete(name) }
            let address = DeviceAddress(0xC000_0000_0000 | UInt64(index), kind: .random)
            _ = table.record(sighting(data, address: address, rssi: Int8(-40 - index), at: UInt64(index)))
        }
        return table
    }

    private func lines(_ view: inout LiveView, _ table: ScanTable, _ size: LiveScreen.Size? = nil) -> [String] {
        view.lines(table, at: now, size: size ?? self.size)
    }

    /// The names in the rows.
    private func names(_ lines: [String]) -> [String] {
        lines.dropFirst(2).dropLast().map { String($0.prefix(24).prefix { $0 != " " }) }.filter { !$0.isEmpty }
    }

    @Test("The strongest devices come first; s changes the order, r reverses it")
    func sorting() {
        var view = LiveView(palette: Palette(isColoured: false))
        let table = table(["Beta", "alpha", "Gamma"])
        #expect(lines(&view, table).first?.hasPrefix("3 devices, by signal") == true)
        #expect(names(lines(&view, table)) == ["Beta", "alpha", "Gamma"])
        for (order, expected) in [
            ("name", ["Beta", "Gamma", "alpha"]), ("address", ["Beta", "alpha", "Gamma"]),
            ("seen", ["Gamma", "alpha", "Beta"]), ("found", ["Gamma", "alpha", "Beta"]),
            ("signal", ["Beta", "alpha", "Gamma"]),
        ] {
            #expect(view.press(.character("s")) == .redraw)
            #expect(lines(&view, table).first?.hasPrefix("3 devices, by \(order)") == true)
            #expect(names(lines(&view, table)) == expected)
        }
        _ = view.press(.character("r"))
        #expect(names(lines(&view, table)) == ["Gamma", "alpha", "Beta"])
    }

    @Test("A filter can be typed, kept and cleared")
    func filter() {
        var view = LiveView(palette: Palette(isColoured: false))
        let table = table(["Beta", "alpha", "Gamma"])
        for key in [LiveKey.character("/"), .character("A"), .character("l"), .character("q"), .backspace] {
            #expect(view.press(key) == .redraw)
        }
        #expect(lines(&view, table).last?.hasPrefix("filter: Al_") == true)
        _ = view.press(.enter)
        #expect(names(lines(&view, table)) == ["alpha"])
        #expect(lines(&view, table).first?.hasPrefix("1 of 3 devices, by signal, with \"Al\"") == true)
        _ = view.press(.escape)
        #expect(names(lines(&view, table)).count == 3)
        // It does not grow for ever.
        _ = view.press(.character("/"))
        for _ in 0..<1000 { _ = view.press(.character("x")) }
        #expect(view.filter.count == 64)
    }

    @Test("A list longer than the screen scrolls, never beyond either end")
    func scrolling() {
        var view = LiveView(palette: Palette(isColoured: false))
        let table = table((0..<10).map { "n\($0)" })
        #expect(names(lines(&view, table)) == ["n0", "n1", "n2"])
        for (key, first) in [
            (LiveKey.down, "n1"), (.pageDown, "n4"), (.up, "n3"), (.end, "n7"), (.down, "n7"), (.home, "n0"),
            (.up, "n0"),
            (.character("j"), "n1"), (.character("G"), "n7"), (.character("g"), "n0"),
        ] {
            _ = view.press(key)
            #expect(names(lines(&view, table)).first == first)
        }
    }

    @Test("A paused table does not change")
    func pause() {
        var view = LiveView(palette: Palette(isColoured: false))
        _ = view.press(.character("p"))
        let before = lines(&view, table(["a"]))
        #expect(names(lines(&view, table(["a", "b"]))) == ["a"] && before[0].contains("paused"))
        _ = view.press(.character(" "))
        #expect(names(lines(&view, table(["a", "b"]))) == ["a", "b"])
    }

    @Test("q quits, c clears the devices")
    func actions() {
        var view = LiveView(palette: Palette(isColoured: false))
        #expect(view.press(.character("q")) == .quit)
        #expect(view.press(.character("c")) == .forget)
        #expect(view.press(.character("?")) == .redraw)
    }

    @Test(
        "No line is wider than the terminal, and there is one line per row",
        arguments: [1, 5, 20, 79, 80, 100, 200])
    func fits(_ columns: Int) {
        var view = LiveView(palette: Palette(isColoured: false))
        let table = table([hostileName, "日本語のなまえはとてもながい", "e\u{301}\u{301}\u{301}\u{301}", "plain"])
        for rows in [1, 2, 3, 10] {
            let lines = lines(&view, table, .init(columns: columns, rows: rows))
            #expect(lines.count == rows)
            for line in lines {
                #expect(isHarmless(line))
                if columns >= 80 { #expect(width(line) <= columns, "\(line)") }
            }
        }
    }

    @Test(
        "The narrower the terminal, the shorter the signal's history; values and services are kept",
        arguments: [(200, 16, 20), (140, 16, 20), (120, 13, 20), (100, 9, 20), (90, 4, 20), (80, 4, 20), (74, 0, 20)])
    func narrow(_ columns: Int, _ history: Int, _ details: Int) {
        var table = ScanTable()
        let data = advertised {
            $0.localName = .complete("Cellar")
            $0.serviceData = [.init(uuid: "FCD2", data: [0x40, 0x02, 0xCA, 0x09])]
        }
        for second in 0..<20 as Range<UInt64> { _ = table.record(sighting(data, rssi: -30, at: second)) }
        var view = LiveView(palette: Palette(isColoured: false))
        let lines = view.lines(
            table, at: Instant(nanoseconds: 19_000_000_000), size: .init(columns: columns, rows: 5))
        // A bar, and a cell for each second, of a signal that is as strong as can be.
        #expect(lines[2].count { $0 == "█" } - (columns < 100 ? 4 : 8) == history, "\(lines[2])")
        #expect(lines[2].contains("temperature 25.06 °C".prefix(details)), "\(lines[2])")
        #expect(width(lines[2]) <= columns && width(lines[1]) <= columns)
    }

    /// Counted in another way than it was made: by the blocks of wide characters in these names.
    private func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { sum, scalar in
            if scalar.properties.generalCategory == .nonspacingMark { return sum }
            return sum + ((0x3000...0x9FFF).contains(scalar.value) ? 2 : 1)
        }
    }

    @Test("Old rows are dim on a terminal with colors")
    func colours() {
        var view = LiveView(palette: Palette(isColoured: true))
        let old = view.lines(table(["a"]), at: Instant(nanoseconds: 60_000_000_000), size: size)
        #expect(old[2].hasPrefix("\u{1B}[2m") && old[2].contains("60s"))
    }

    @Test(
        "Text is fitted to the width of a column",
        arguments: [
            ("abc", 5, "abc  "), ("abcdef", 5, "abcd…"), ("abcde", 5, "abcde"), ("", 3, "   "), ("abc", 0, ""),
            ("日本語", 5, "日本…"), ("日本語", 4, "日… "), ("日本", 4, "日本"), ("ab\u{1B}c", 12, "ab\\u{1B}c   "),
            ("abc\u{1B}", 5, "abc… "), ("a\u{301}\u{301}\u{301}b", 3, "a\u{301}\u{301}b "), ("\u{301}a", 2, "a "),
        ])
    func columns(_ text: String, _ columns: Int, _ expected: String) {
        #expect(Array(CellText.fitted(text, to: columns).unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test(
        "The key sequences of terminals are decoded",
        arguments: [
            ("q", [.character("q")]), ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OA", [.up]),
            ("\u{1B}[5~x", [.pageUp, .character("x")]),
            ("\u{1B}", [.escape]), ("\r\u{7F}", [.enter, .backspace]), ("\u{1B}[1;5C\u{1B}[200~", []),
            ("\u{3}\u{9}", []),
            ("\u{1B}[", []), ("é", [.character("é")]),
        ] as [(String, [LiveKey])])
    func keys(_ text: String, _ keys: [LiveKey]) {
        #expect(LiveKey.keys(in: Array(text.utf8)[...]) == keys)
    }
}
