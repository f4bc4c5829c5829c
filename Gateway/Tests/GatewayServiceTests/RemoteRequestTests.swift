import BluetoothLE
import Testing
@testable import GatewayService

/// What a request says, and what is none.
@Suite struct RemoteRequestTests {
    let device = DeviceAddress(0xA4C1_3811_2233, kind: .public)
    let place = RemoteRequest.Place(service: "180F", characteristic: "2A19")

    func request(_ members: String) throws(RemoteRefusal) -> RemoteRequest {
        try RemoteRequest(Array(#"{"id":"7","owner":"me","device":"A4:C1:38:11:22:33",\#(members)}"#.utf8))
    }

    @Test(arguments: [
        (#"{"id":"7","do":"fly"}"#, "7" as String?), ("{}", nil), ("[", nil), (#"{"id":7}"#, nil),
        (#"{"id":"\#(String(repeating: "a", count: 200))"}"#, String(repeating: "a", count: 128)),
        (#"{"id":"7","owner":"\#(String(repeating: "a", count: 4096))"}"#, nil),
    ])
    func identifierOfWhatNobodyHasTimeFor(payload: String, id: String?) {
        #expect(RemoteRequest.id(of: Array(payload.utf8)) == id)
    }

    @Test func actions() throws {
        let place = #""service":"180F","characteristic":"2A19""#
        #expect(try request(#""do":"connect""#).action == .connect)
        #expect(try request(#""do":"disconnect""#).action == .disconnect)
        #expect(try request(#""do":"discover""#).action == .discover)
        #expect(try request(#""do":"pair""#).action == .pair)
        #expect(try request(#""do":"unpair""#).action == .unpair)
        #expect(try request(#""do":"read",\#(place)"#).action == .read(self.place))
        #expect(try request(#""do":"subscribe",\#(place)"#).action == .subscribe(self.place))
        #expect(try request(#""do":"unsubscribe",\#(place)"#).action == .unsubscribe(self.place))
        #expect(
            try request(#""do":"write",\#(place),"value":"01 ff""#).action
                == .write(self.place, [1, 255], awaitsResponse: true))
        let request = try request(#""do":"write",\#(place),"value":"","response":false,"timeout":0.5"#)
        #expect(request.action == .write(self.place, [], awaitsResponse: false))
        #expect(request.timeout == .milliseconds(500))
        #expect(request.device == device)
        #expect((request.id, request.owner) == ("7", "me"))
    }

    @Test(arguments: [
        (#""do":"fly""#, "do must be one of"), (#""x":1"#, "do must be one of"),
        (#""do":"read""#, "service and characteristic"),
        (#""do":"connect","timeout":0"#, "timeout must be"), (#""do":"connect","timeout":1e300"#, "timeout must be"),
        (#""do":"write","service":"1","characteristic":"2","value":"0""#, "value must be at most 512"),
    ])
    func malformed(members: String, reason: String) {
        #expect {
            _ = try request(members)
        } throws: { error in
            let refusal = error as? RemoteRefusal
            return refusal?.code == .malformed && refusal?.id == "7" && refusal?.reason.contains(reason) == true
        }
    }

    @Test(arguments: ["", "[]", "{}", "\u{0}", #"{"owner":""}"#, #"{"owner":"me","device":"nobody"}"#])
    func noRequest(text: String) {
        #expect {
            _ = try RemoteRequest(Array(text.utf8))
        } throws: { ($0 as? RemoteRefusal)?.code == .malformed }
    }

    @Test func tooLong() {
        let text = #"{"owner":"\#(String(repeating: "x", count: 5000))"}"#
        #expect(throws: RemoteRefusal(.malformed, "a request must have at most 4096 octets")) {
            _ = try RemoteRequest(Array(text.utf8))
        }
    }

    @Test func answers() {
        #expect(RemoteAnswer.done.json(id: "a\"") == #"{"id":"a\"","ok":true}"#)
        #expect(RemoteAnswer.value([0, 255]).json(id: nil) == #"{"ok":true,"value":"00FF"}"#)
        #expect(
            RemoteAnswer.connected(mtu: 517, adapter: "hci0").json(id: nil)
                == #"{"ok":true,"mtu":517,"adapter":"hci0"}"#)
        let services = [RemoteAnswer.Service(uuid: "180F", characteristics: [("2A19", ["read", "notify"])])]
        #expect(
            RemoteAnswer.services(services).json(id: nil)
                == #"{"ok":true,"services":[{"uuid":"180F","characteristics":[{"uuid":"2A19","properties":["read","notify"]}]}]}"#
        )
        #expect(
            RemoteAnswer.refused(RemoteRefusal(.busy, "wait")).json(id: "1")
                == #"{"id":"1","ok":false,"error":"busy","reason":"wait"}"#)
    }
}
