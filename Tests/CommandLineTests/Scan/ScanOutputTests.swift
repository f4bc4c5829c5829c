import BluetoothBase
import BluetoothHost
import BluetoothLE
import BluetoothSMP
import Testing

@testable import ble
@testable import BluetoothCommandLine

/// `ble scan`: its lines, for people and for programs.
struct ScanOutputTests {
    private func device(_ sighting: Sighting, keys: BTHomeKeys = BTHomeKeys()) -> ScannedSet {
        var table = ScanTable(keys: keys)
        let slot = table.record(sighting).slot
        return table[slot]
    }

    private func line(_ sighting: Sighting) -> String {
        var device = device(sighting)
        return String(decoding: device.line, as: UTF8.self)
    }

    /// The object without the time, which is the wall clock's.
    private func object(_ sighting: Sighting, keys: BTHomeKeys = BTHomeKeys()) throws -> String {
        var device = device(sighting, keys: keys)
        let line = String(decoding: device.jsonLine, as: UTF8.self)
        let end = try #require(line.dropFirst(9).firstIndex(of: "\""))
        #expect(line.hasPrefix("{\"time\":\"") && line[..<end].hasSuffix("Z") && line.hasSuffix("}\n"))
        // The second time it comes from what was kept.
        #expect(String(decoding: device.jsonLine, as: UTF8.self).dropFirst(40) == line.dropFirst(40))
        return String(line[line.index(after: end)...].dropFirst().dropLast())
    }

    @Test("A heart rate belt is shown with the names of its services, vendor and appearance")
    func belt() throws {
        let data = advertised {
            $0.flags = [.generalDiscoverable, .brEDRNotSupported]
            $0.localName = .complete("Belt")
            $0.serviceUUIDs = ["180D", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"]
            $0.appearance = Appearance(rawValue: 833)
            $0.manufacturerData = [.init(companyID: 0x0059, data: [1, 0xAB])]
            $0.txPowerLevel = 4
        }
        #expect(
            line(sighting(data)) == """
                C0:11:22:33:44:55     -60 dBm  "Belt"  Nordic Semiconductor ASA  services 180D (Heart Rate), \
                6E400001-B5A3-F393-E0A9-E50E24DCCA9E  manufacturer 0059 01 AB  appearance Heart Rate Belt  transmits at 4 dBm\n
                """)
        #expect(
            try object(sighting(data)) == """
                "rssi":-60,"address":"C0:11:22:33:44:55","name":"Belt","vendor":"Nordic Semiconductor ASA",\
                "connectable":true,"services":[{"uuid":"180D","name":"Heart Rate"},\
                {"uuid":"6E400001-B5A3-F393-E0A9-E50E24DCCA9E"}],"manufacturerData":[{"company":89,\
                "name":"Nordic Semiconductor ASA","data":"01AB"}],"txPower":4,"appearance":833,\
                "appearanceName":"Heart Rate Belt","flags":6}
                """)
    }

    @Test("A bonded device is shown with its identity and its name, whatever private address it uses")
    func bonded() throws {
        let identity = DeviceAddress(0xC011_2233_4455, kind: .random)
        let bond = Bond(
            peer: PeerID(DeviceAddress(0x5A01_0203_0405, kind: .random)), address: identity,
            identity: DeviceIdentity(address: identity, resolvingKey: 1),
            strength: KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16), name: "Phone")
        var table = ScanTable()
        table.know([bond])
        func show(_ data: [UInt8], _ address: UInt64, peer: PeerID?) -> (json: String, line: String) {
            let address = DeviceAddress(address, kind: .random)
            let slot = table.record(sighting(data, address: address, peer: peer)).slot
            let json = String(decoding: table.text(of: slot) { $0.jsonLine }, as: UTF8.self)
            return (
                String(json.drop { $0 != "," }), String(decoding: table.text(of: slot) { $0.line }, as: UTF8.self)
            )
        }
        let silent = show([], 0x4A00_0000_0001, peer: bond.peer)
        #expect(
            silent.json.hasPrefix(
                """
                ,"rssi":-60,"address":"4A:00:00:00:00:01/R","identity":"C0:11:22:33:44:55","name":"Phone",
                """))
        #expect(silent.line.contains("\"Phone\"  is C0:11:22:33:44:55"))
        let named = show(advertised { $0.localName = .complete("New") }, 0x4A00_0000_0002, peer: bond.peer)
        #expect(named.json.contains(#""identity":"C0:11:22:33:44:55","name":"New""#))
        let stranger = show([], 0x4A00_0000_0003, peer: nil)
        #expect(!stranger.json.contains("identity") && !stranger.json.contains("Phone"))
    }

    @Test("A sensor's values are shown with their units")
    func sensor() throws {
        let data = advertised {
            $0.serviceData = [.init(uuid: "FCD2", data: [0x44, 0x02, 0xCA, 0x09, 0x1A, 0x01, 0x3A, 0x01])]
        }
        let seen = sighting(data, rssi: 127, isConnectable: false)
        #expect(
            line(seen) == """
                C0:11:22:33:44:55       ? dBm  Allterco Robotics ltd  not connectable  bthome temperature 25.06 °C \
                door yes button "press"\n
                """)
        #expect(
            try object(seen) == """
                "address":"C0:11:22:33:44:55","vendor":"Allterco Robotics ltd",\
                "serviceData":[{"uuid":"FCD2","member":"Allterco Robotics ltd","data":"4402CA091A013A01"}],\
                "values":[{"format":"bthome","name":"temperature","value":25.06,"unit":"°C"},\
                {"format":"bthome","name":"door","value":true},{"format":"bthome","name":"button","value":"press"}]}
                """)
    }

    @Test("Unknown AD types are shown with their octets")
    func unknown() throws {
        let data: [UInt8] = [2, 0x01, 6, 3, 0xE7, 1, 0xAB, 1, 0xE8, 4, 0xE7, 2, 3, 4]
        let seen = sighting(data, response: [2, 0x3D, 0xFF])
        let text = try object(seen)
        #expect(
            text.contains(
                #""flags":6,"other":[{"type":231,"data":"01AB"},{"type":232,"data":""},"#
                    + #"{"type":231,"data":"020304"},{"type":61,"data":"FF"}]"#), "\(text)")
    }

    @Test("A later event never gets an earlier time, however long reading the clocks takes")
    func order() {
        var calendar = CalendarTime()
        let base: Int64 = 1_700_000_000_000_000_000
        /// Reads the clocks: the time of day is read so long before the monotonic one.
        func time(of nanoseconds: UInt64, delay: UInt64, set: Int64 = 0) -> Int64 {
            let now = nanoseconds + 1_000_000
            return calendar.time(
                of: Instant(nanoseconds: nanoseconds), base + Int64(now) + set, between: Instant(nanoseconds: now),
                and: Instant(nanoseconds: now + delay)) - base
        }
        let first = time(of: 5_000_000, delay: 0)
        #expect(first == 5_000_000)
        for delay in [9_000_000, 1_000, 400_000_000, 3_000_000_000, 0] as [UInt64] {
            #expect(time(of: 6_000_000, delay: delay) == 6_000_000)
        }
        // Somebody has set the clock.
        #expect(time(of: 7_000_000, delay: 0, set: 3_600_000_000_000) == 3_600_007_000_000)
        #expect(time(of: 8_000_000, delay: 0, set: -1_000_000_000) == -992_000_000)
    }

    @Test("An encrypted sensor's values are decrypted with its key")
    func encrypted() throws {
        let address = try #require(DeviceAddress("54:48:E6:8F:80:A5/P"))
        let payload = try #require([UInt8](hexadecimal: "41A47266C95F730011223378237214"))
        let seen = sighting(advertised { $0.serviceData = [.init(uuid: "FCD2", data: payload)] }, address: address)
        let keys = try BTHomeKeys(
            text: "# the cellar\n\n54:48:E6:8F:80:A5 231d39c1d7cc1ab1aee224cd096db932\n", path: "keys")
        #expect(try object(seen, keys: keys).contains(#""format":"bthome","name":"temperature","value":25.06"#))
        #expect(
            try object(seen).contains(#""format":"bthome-encrypted","name":"encryption_counter","value":857870592"#))
    }

    @Test(
        "An error in a key file is reported with its line",
        arguments: ["54:48:E6:8F:80:A5", "x 231d39c1d7cc1ab1aee224cd096db932", "54:48:E6:8F:80:A5 231d", "a b c"])
    func keys(_ line: String) {
        let failure = #expect(throws: CommandFailure.self) { try BTHomeKeys(text: "#\n\(line)", path: "keys") }
        #expect(failure?.status == .usage && failure?.message?.hasPrefix("keys, line 2: ") == true)
    }

    @Test("Nothing that a device sends can control a terminal")
    func hostile() throws {
        let text = Array(hostileName.utf8)
        let data = advertised {
            $0.localName = .complete(hostileName)
            $0.serviceData = [.init(uuid: "FCD2", data: [0x40, 0x53, UInt8(text.count)] + text)]
            $0.other = [.init(type: .init(rawValue: 0x24), data: text)]
        }
        // A name that is not UTF-8, too.
        for data in [data, [5, 0x09, 0xFF, 0xC0, 0x1B, 0x80]] {
            #expect(isHarmless(String(line(sighting(data)).dropLast())))
            #expect(isHarmless(try object(sighting(data))))
        }
        #expect(line(sighting(data)).contains(#""a\u{1B}[31mb\u{07}\u{009B}c\u{202E}d\u{2028}\r\n""#))
        #expect(try object(sighting(data)).contains(#""name":"a\u001b[31mb\u0007\u009bc\u202ed\u2028\u000d\u000a""#))
    }

    @Test(
        "Times are formatted according to ISO 8601",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
            (.min, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func timestamps(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(millisecondsSince1970: milliseconds).description == text)
    }
}
