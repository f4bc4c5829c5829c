import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("Chunked message: receiving")
struct ChunkedMessageReceiverTests {
    private func receive(
        _ text: String, by receiver: inout ChunkedMessageReceiver
    ) throws -> ChunkedMessageReceiver.Progress {
        let chunk = Array(text.utf8)
        return try receiver.receive(chunk.span)
    }

    @Test("chunks accumulate until EOM, and then the next message begins")
    func twoMessages() throws {
        var receiver = ChunkedMessageReceiver()
        #expect(try receive("ab", by: &receiver) == .incomplete(octetsReceived: 2))
        #expect(try receive("", by: &receiver) == .incomplete(octetsReceived: 2))
        #expect(try receive("EO", by: &receiver) == .incomplete(octetsReceived: 4))
        #expect(try receive("M", by: &receiver) == .incomplete(octetsReceived: 5))
        #expect(try receive("EOMx", by: &receiver) == .incomplete(octetsReceived: 9))
        #expect(try receive("EOM", by: &receiver) == .complete(Array("abEOMEOMx".utf8)))
        #expect(try receive("EOM", by: &receiver) == .complete([]))
        #expect(try receive("c", by: &receiver) == .incomplete(octetsReceived: 1))
    }

    @Test("a message that is too long is rejected up to its end, and never delivered in part")
    func tooLong() throws {
        var receiver = ChunkedMessageReceiver(maximumSize: 4)
        let error = ChunkedMessageError.messageTooLong(maximum: 4)
        #expect(try receive("abcd", by: &receiver) == .incomplete(octetsReceived: 4))
        #expect(throws: error) { try receive("e", by: &receiver) }
        #expect(receiver.octetsReceived == 0)
        #expect(throws: error) { try receive("f", by: &receiver) }
        #expect(throws: error) { try receive("EOM", by: &receiver) }
        #expect(try receive("gh", by: &receiver) == .incomplete(octetsReceived: 2))
        #expect(try receive("EOM", by: &receiver) == .complete(Array("gh".utf8)))
    }

    @Test("a lost link reports how many bytes had arrived")
    func lostLink() throws {
        var receiver = ChunkedMessageReceiver(maximumSize: 4)
        #expect(throws: Never.self) { try receiver.end() }
        _ = try receive("abc", by: &receiver)
        #expect(throws: ChunkedMessageError.linkLost(octetsReceived: 3)) { try receiver.end() }
        #expect(throws: Never.self) { try receiver.end() }
        _ = try? receive("abcde", by: &receiver)
        #expect(throws: ChunkedMessageError.messageTooLong(maximum: 4)) { try receiver.end() }
        #expect(try receive("EOM", by: &receiver) == .complete([]))
    }

    @Test("a lost chunk ends the message with the number of bytes received, and nothing is delivered")
    func lostPart() throws {
        var receiver = ChunkedMessageReceiver(maximumSize: 4)
        let error = ChunkedMessageError.dataLost(octetsReceived: 3)
        _ = try receive("abc", by: &receiver)
        #expect(throws: error) { try receiver.noteLoss() }
        #expect(throws: error) { try receive("d", by: &receiver) }
        #expect(throws: error) { try receiver.noteLoss() }
        #expect(throws: error) { try receive("EOM", by: &receiver) }
        #expect(try receive("e", by: &receiver) == .incomplete(octetsReceived: 1))
        #expect(try receive("EOM", by: &receiver) == .complete(Array("e".utf8)))
        // Between two messages it may have been the beginning of the second.
        #expect(throws: ChunkedMessageError.dataLost(octetsReceived: 0)) { try receiver.noteLoss() }
        #expect(throws: ChunkedMessageError.dataLost(octetsReceived: 0)) { try receive("EOM", by: &receiver) }
        // One that is thrown away is not so for another reason.
        _ = try? receive("abcde", by: &receiver)
        #expect(throws: ChunkedMessageError.messageTooLong(maximum: 4)) { try receiver.noteLoss() }
        #expect(throws: ChunkedMessageError.messageTooLong(maximum: 4)) { try receiver.end() }
        #expect(try receive("EOM", by: &receiver) == .complete([]))
    }

    @Test("a message arrives unchanged, at any chunk size", arguments: [1, 2, 3, 4, 19, 20, 244])
    func roundTrip(chunkSize: Int) throws {
        let message = (0..<1000).map { Array("xEOMEOM".utf8)[$0 % 7] }
        var sender = ChunkedMessageSender(message, chunkSize: chunkSize)
        var receiver = ChunkedMessageReceiver(maximumSize: message.count)
        var progress = ChunkedMessageReceiver.Progress.incomplete(octetsReceived: 0)
        while !sender.isFinished {
            #expect(progress == .incomplete(octetsReceived: sender.octetsSent))
            progress = try receiver.receive(sender.nextChunk)
            sender.advance()
        }
        #expect(progress == .complete(message))
    }
}
