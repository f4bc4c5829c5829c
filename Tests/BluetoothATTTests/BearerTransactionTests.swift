import BluetoothATT
import BluetoothBase
import Testing

private let start = Instant(nanoseconds: 1_000)

struct BearerTransactionTests {
    @Test func `A6: a bearer accepts only one request at a time`() throws {
        var bearer = ATTBearer()
        try bearer.beginRequest(.readRequest, at: start)
        #expect(bearer.requestInFlight == .readRequest)
        #expect(!bearer.isReadyForRequest)
        #expect(throws: ATTBearer.Refusal.busy) { try bearer.beginRequest(.writeRequest, at: start) }
        #expect(bearer.completeRequest(with: .readResponse) == .readRequest)
        #expect(bearer.isReadyForRequest)
        #expect(bearer.nextDeadline == nil)
        try bearer.beginRequest(.writeRequest, at: start.advanced(by: .seconds(1)))
        #expect(bearer.nextDeadline == start.advanced(by: .seconds(31)))
    }

    @Test(arguments: ATTOpcode.allCases.filter { $0.kind != .request })
    func `an opcode that is not a request is rejected, and the bearer is unchanged`(_ opcode: ATTOpcode) {
        var bearer = ATTBearer()
        #expect(throws: ATTBearer.Refusal.notARequest) { try bearer.beginRequest(opcode, at: start) }
        #expect(bearer == ATTBearer())
    }

    @Test(
        "A7: a response completes the request it belongs to, and no other",
        arguments: ATTOpcode.allCases.filter { $0.kind == .request })
    func responses(_ request: ATTOpcode) throws {
        for response in ATTOpcode.allCases {
            var bearer = ATTBearer()
            #expect(bearer.completeRequest(with: response) == nil, "unsolicited")
            try bearer.beginRequest(request, at: start)
            let waiting = bearer
            if response == request.response {
                #expect(bearer.completeRequest(with: response) == request)
                #expect(bearer == ATTBearer())
            } else {
                #expect(bearer.completeRequest(with: response) == nil)
                #expect(bearer == waiting, "\(response) leaves \(request) waiting")
            }
        }
    }

    @Test func `A7: an error that names another request is ignored`() throws {
        var bearer = ATTBearer()
        let readFails = ATTError(.readNotPermitted, for: .readRequest, at: 3)
        let writeFails = ATTError(.writeNotPermitted, for: .writeRequest, at: 3)
        #expect(bearer.completeRequest(with: readFails) == nil)
        try bearer.beginRequest(.readRequest, at: start)
        #expect(bearer.completeRequest(with: writeFails) == nil)
        #expect(bearer.completeRequest(with: ATTError(requestOpcode: 0, handle: 0, code: .invalidPDU)) == nil)
        #expect(bearer.requestInFlight == .readRequest)
        #expect(bearer.completeRequest(with: readFails) == .readRequest)
        #expect(bearer.requestInFlight == nil)
    }

    @Test func `A15: a confirmation without an indication is ignored`() throws {
        var bearer = ATTBearer()
        #expect(bearer.completeIndication() == false)
        try bearer.beginIndication(at: start)
        #expect(throws: ATTBearer.Refusal.busy) { try bearer.beginIndication(at: start) }
        #expect(bearer.completeIndication() == true)
        #expect(bearer.completeIndication() == false)
        #expect(bearer == ATTBearer())
    }

    @Test func `both roles share a bearer without waiting for each other`() throws {
        var bearer = ATTBearer()
        try bearer.beginRequest(.readRequest, at: start)
        try bearer.beginIndication(at: start)
        #expect(bearer.completeIndication() == true)
        #expect(bearer.completeRequest(with: .readResponse) == .readRequest)
    }
}
