import BluetoothATT
import BluetoothBase
import Testing

struct BearerMTUTests {
    @Test(
        "A1: the MTU is the smaller of the two, but at least 23",
        arguments: [
            (517, 185, 185), (185, 517, 185), (23, 517, 23), (5, 517, 23), (517, 0, 23), (65_535, 65_535, 65_535),
        ] as [(UInt16, UInt16, Int)])
    func exchange(_ client: UInt16, _ server: UInt16, _ expected: Int) {
        var bearer = ATTBearer()
        #expect(bearer.mtu == 23)
        #expect(bearer.exchangeMTU(clientRxMTU: client, serverRxMTU: server) == true)
        #expect(bearer.mtu == expected)
        #expect(bearer.isMTUExchanged)
    }

    @Test func `A1: a second exchange changes nothing`() {
        var bearer = ATTBearer()
        #expect(bearer.exchangeMTU(clientRxMTU: 100, serverRxMTU: 517) == true)
        #expect(bearer.exchangeMTU(clientRxMTU: 200, serverRxMTU: 517) == false)
        #expect(bearer.exchangeMTU(clientRxMTU: 23, serverRxMTU: 517) == false)
        #expect(bearer.mtu == 100)
    }

    @Test func `A1: an enhanced bearer has the MTU of its channel and no exchange`() {
        var bearer = ATTBearer(channelMTU: 247)
        #expect(!bearer.allowsMTUExchange)
        #expect(bearer.exchangeMTU(clientRxMTU: 100, serverRxMTU: 100) == false)
        #expect(bearer.mtu == 247)
        #expect(ATTBearer(channelMTU: 23).mtu == 64)
    }

    @Test func `A1: a bearer over BR/EDR has the MTU of its channel and no exchange`() {
        var bearer = ATTBearer(brEDRChannelMTU: 672)
        #expect(!bearer.allowsMTUExchange)
        #expect(bearer.exchangeMTU(clientRxMTU: 100, serverRxMTU: 100) == false)
        bearer.channelMTUChanged(to: 1000)
        #expect(bearer.mtu == 672)
        #expect(ATTBearer(brEDRChannelMTU: 23).mtu == 48)
    }

    /// A value of the maximum length makes a PDU as long as ATT_MTU.
    @Test(arguments: [23, 185, 255])
    func `a value of the maximum length fills the PDU`(_ mtu: UInt16) throws {
        var bearer = ATTBearer()
        #expect(bearer.exchangeMTU(clientRxMTU: mtu, serverRxMTU: mtu) == true)
        func length(_ opcode: ATTOpcode, _ encode: (Span<UInt8>, inout ByteWriter) -> Void) -> Int {
            let value = [UInt8](repeating: 0, count: bearer.maximumValueLength(of: opcode))
            var writer = ByteWriter()
            encode(value.span, &writer)
            return writer.count
        }
        let signature = [UInt8](repeating: 0, count: SignedWriteCommand.signatureLength)
        let lengths = [
            length(.readResponse) { ReadResponse(value: $0).encode(into: &$1) },
            length(.readBlobResponse) { ReadBlobResponse(value: $0).encode(into: &$1) },
            length(.readMultipleResponse) { ReadMultipleResponse(values: $0).encode(into: &$1) },
            length(.writeRequest) { WriteRequest(handle: 1, value: $0).encode(into: &$1) },
            length(.writeCommand) { WriteCommand(handle: 1, value: $0).encode(into: &$1) },
            length(.signedWriteCommand) {
                SignedWriteCommand(handle: 1, value: $0, authenticationSignature: signature.span).encode(into: &$1)
            },
            length(.prepareWriteRequest) { PrepareWriteRequest(handle: 1, offset: 0, value: $0).encode(into: &$1) },
            length(.prepareWriteResponse) { PrepareWriteResponse(handle: 1, offset: 0, value: $0).encode(into: &$1) },
            length(.handleValueNotification) { HandleValueNotification(handle: 1, value: $0).encode(into: &$1) },
            length(.handleValueIndication) { HandleValueIndication(handle: 1, value: $0).encode(into: &$1) },
            length(.findByTypeValueRequest) {
                FindByTypeValueRequest(startingHandle: 1, endingHandle: 2, attributeType: 0, attributeValue: $0)
                    .encode(into: &$1)
            },
            length(.multipleHandleValueNotification) {
                MultipleHandleValueNotification.begin(into: &$1)
                MultipleHandleValueNotification.append(handle: 1, value: $0, into: &$1)
            },
            length(.readMultipleVariableResponse) {
                ReadMultipleVariableResponse.begin(into: &$1)
                ReadMultipleVariableResponse.append(value: $0, space: .max, into: &$1)
            },
            length(.readByTypeResponse) {
                ReadByTypeResponse.begin(elementLength: UInt8(2 + $0.count), into: &$1)
                ReadByTypeResponse.append(handle: 1, value: $0, into: &$1)
            },
            length(.readByGroupTypeResponse) {
                ReadByGroupTypeResponse.begin(elementLength: UInt8(4 + $0.count), into: &$1)
                ReadByGroupTypeResponse.append(handle: 1, endGroupHandle: 2, value: $0, into: &$1)
            },
        ]
        #expect(lengths == Array(repeating: Int(mtu), count: lengths.count))
    }

    @Test func `an element of a list is never longer than its length octet allows`() {
        var bearer = ATTBearer()
        #expect(bearer.exchangeMTU(clientRxMTU: 517, serverRxMTU: 517) == true)
        #expect(bearer.maximumValueLength(of: .readByTypeResponse) == 253)
        #expect(bearer.maximumValueLength(of: .readByGroupTypeResponse) == 251)
        #expect(bearer.maximumValueLength(of: .writeResponse) == 0)
    }
}
