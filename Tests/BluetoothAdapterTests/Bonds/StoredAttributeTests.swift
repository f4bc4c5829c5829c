import BluetoothBase
import BluetoothGATT
import BluetoothHost
import Testing

@testable import BluetoothAdapter

@Suite("A peer's discovered attributes on disk")
struct StoredAttributeTests {
    private let directory = TemporaryDirectory()
    private let name = "001bdc000001-public.json"
    private var store: FileBondStore { FileBondStore(directory: directory.path) }
    /// One service, 180D, from 1 to 9.
    private static let stored = #""attributes":"AQEAAAAAAAAAAQAJAAINGA==","#

    @Test("A bond contains the attributes in base64")
    func text() throws {
        try store.save(BondSamples.full(), of: BondSamples.local)
        #expect(try directory.text(of: name).contains(Self.stored))
        #expect(try store.bonds(of: BondSamples.local) == [BondSamples.full()])
    }

    @Test(
        "Missing or damaged attributes are ignored, and the bond stays valid",
        arguments: [
            "", #""attributes":null,"#, #""attributes":7,"#, #""attributes":{"a":[1]},"#, #""attributes":"","#,
            #""attributes":"AQEAAAAAAAAAAQAJAAING","#, #""attributes":"?","#,
            // A service at handle 0, of another version, and with an octet too much.
            #""attributes":"AQEAAAAAAAAAAAAJAAINGA==","#, #""attributes":"AgEAAAAAAAAAAQAJAAINGA==","#,
            #""attributes":"AQEAAAAAAAAAAQAJAAINGAA=","#,
            "\"attributes\":\"" + String(repeating: "A", count: 1 << 20) + "\",",
        ])
    func damaged(text: String) throws {
        try store.save(BondSamples.full(), of: BondSamples.local)
        var whole = try directory.text(of: name)
        let range = try #require(whole.firstRange(of: Self.stored))
        whole.replaceSubrange(range, with: text)
        try directory.write(whole, to: name)
        var expected = BondSamples.full()
        expected.attributes = nil
        #expect(try store.bonds(of: BondSamples.local) == [expected])
        #expect(try directory.names == [name])
    }
}
