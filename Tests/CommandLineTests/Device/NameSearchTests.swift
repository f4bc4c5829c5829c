import BluetoothLE
import Testing

@testable import BluetoothCommandLine

/// The device that a name stands for, and the messages for names that stand for none.
struct NameSearchTests {
    private static func search(_ wanted: String, _ names: [String?]) -> NameSearch {
        var search = NameSearch(wanted)
        for (index, name) in names.enumerated() {
            let data = advertised { $0.localName = name.map { .complete($0) } }
            let address = DeviceAddress(0xC000_0000_0001 + UInt64(index), kind: .random)
            _ = search.take(sighting(data, address: address))
        }
        return search
    }

    private static func name(_ verdict: NameSearch.Verdict) -> String? {
        if case .one(let sighting) = verdict { sighting.name } else { nil }
    }

    @Test(
        "A name selects the only device with exactly that name",
        arguments: [
            ("Card", ["Card", "CardReader"], "Card"), ("Card", ["CardReader", nil, "Card"], "Card"),
            ("Biz", ["BizCard", "Lamp", nil], nil), ("Biz", ["BizCard", "BizCart"], nil), ("Biz", ["biz"], nil),
            ("Card", ["Card", "Card"], nil), ("Card", ["BizCard"], nil), ("Card", [], nil), ("Card", [nil], nil),
        ] as [(String, [String?], String?)])
    func verdict(_ wanted: String, _ names: [String?], _ expected: String?) {
        #expect(Self.name(Self.search(wanted, names).verdict) == expected)
    }

    @Test("A name in the scan response counts as soon as it is received")
    func scanResponse() {
        var search = NameSearch("Card")
        let name = advertised { $0.localName = .complete("Card") }
        let isKnown = [
            search.take(sighting([2, 1, 6])), search.take(sighting([2, 1, 6], response: name)),
            search.take(sighting([2, 1, 6])),
        ]
        #expect(isKnown == [false, true, true])
    }

    @Test("A device whose name only begins with the wanted one does not end the search")
    func beginning() {
        var search = NameSearch("Biz")
        let longer = advertised { $0.localName = .complete("BizCard") }
        let isFound = search.take(sighting(longer))
        #expect(!isFound)
        #expect(search.verdict == .none && search.ambiguity == nil)
    }

    @Test("If several devices have the name, their addresses are listed")
    func ambiguity() throws {
        let namesakes = try #require(Self.search("Card", ["Card", "Card", "Cards"]).ambiguity)
        #expect(
            namesakes.message
                == "several devices are named \"Card\": C0:00:00:00:00:01 (-60 dBm), C0:00:00:00:00:02 (-60 dBm); give the "
                + "address")
        #expect(namesakes.status == .usage)
        #expect(Self.search("Card", ["Card", "Cards"]).ambiguity == nil)
        #expect(Self.search("Biz", ["BizCard", "BizCart"]).ambiguity == nil)
        let crowd = Self.search("C", Array(repeating: "C", count: 20))
        #expect(crowd.ambiguity?.message?.contains(" and 12 more;") == true)
    }

    @Test(
        "Close names are listed: first those that begin with the wanted one, then the closest",
        arguments: [
            ("Biz", ["BizCard"], #"no device named "Biz" yet; "BizCard" is advertising"#),
            ("Biz", ["Bit", "BizCard"], #"no device named "Biz" yet; "BizCard" and "Bit" are advertising"#),
            ("Biz", ["Biz\u{1B}"], #"no device named "Biz" yet; "Biz\u{1B}" is advertising"#),
            ("BzCard", ["Lamp", "BizCard"], #"no device named "BzCard" yet; "BizCard" is advertising"#),
            ("bizcard", ["BizCard"], #"no device named "bizcard" yet; "BizCard" is advertising"#),
            ("card", ["BizCard", "Cars"], #"no device named "card" yet; "Cars" and "BizCard" are advertising"#),
            (
                "Lamp", ["Thermometer", nil, "Belt"],
                #"no device named "Lamp" yet; none of the 3 devices in range has a similar name"#
            ),
            ("Lamp", [nil], #"no device named "Lamp" yet; the only device in range has a different name"#),
            ("Lamp", [], #"no device named "Lamp" yet; no device is advertising"#),
        ] as [(String, [String?], String)])
    func hint(_ wanted: String, _ names: [String?], _ expected: String) {
        let hint = Self.search(wanted, names).hint
        #expect(hint.hasPrefix(expected), "\(hint)")
    }

    @Test(
        "A crowd of devices does not fill the memory, and does not hide the device with the name",
        arguments: ["Lamp", "Card"])
    func crowd(_ name: String) {
        let crowd = (0..<3000).map { "\(name) \($0)" }
        #expect(Self.search("Sofa", crowd).hint.contains("none of the 512 devices"))
        #expect(Self.name(Self.search("Card", crowd + ["Card"]).verdict) == "Card")
        // The number of devices with the name is limited, too.
        let namesakes = Self.search("Card", crowd + Array(repeating: "Card", count: 3000))
        #expect(namesakes.ambiguity?.message?.contains(" and 504 more;") == true)
    }
}
