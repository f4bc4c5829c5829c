import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("Chunked message: sending")
struct ChunkedMessageSenderTests {
    @Test(
        "a message is split into chunks and ended by EOM, and no other chunk is EOM",
        arguments: [
            ("", 20, ["EOM"]),
            ("hello", 20, ["hello", "EOM"]),
            ("01234567890123456789", 20, ["01234567890123456789", "EOM"]),
            ("012345678901234567890", 20, ["01234567890123456789", "0", "EOM"]),
            ("EOM", 20, ["EO", "M", "EOM"]),
            ("01234567890123456789EOM", 20, ["01234567890123456789", "EO", "M", "EOM"]),
            ("EOMEOM", 20, ["EOMEOM", "EOM"]),
            ("EOMEOM", 3, ["EO", "MEO", "M", "EOM"]),
            ("EOEOM", 3, ["EOE", "OM", "EOM"]),
            ("xEOMEOMEOM", 3, ["xEO", "MEO", "MEO", "M", "EOM"]),
            ("EOMEOM", 2, ["EO", "ME", "OM", "EOM"]),
            ("EOM", 1, ["E", "O", "M", "EOM"]),
            ("eom", 3, ["eom", "EOM"]),
            ("ab", 0, ["a", "b", "EOM"]),
        ])
    func cut(message: String, chunkSize: Int, chunks: [String]) {
        var sender = ChunkedMessageSender(Array(message.utf8), chunkSize: chunkSize)
        var sent: [String] = []
        while !sender.isFinished {
            sent.append(String(decoding: Array(sender.nextChunk), as: UTF8.self))
            sender.advance()
        }
        #expect(sent == chunks)
    }

    @Test("a chunk that was not accepted is offered again")
    func backPressure() {
        var sender = ChunkedMessageSender(Array("abc".utf8), chunkSize: 2)
        #expect(Array(sender.nextChunk) == Array("ab".utf8))
        #expect(Array(sender.nextChunk) == Array("ab".utf8))
        #expect(sender.octetsSent == 0)
        sender.advance()
        #expect(Array(sender.nextChunk) == Array("c".utf8))
    }

    @Test("progress counts the message's bytes, and sending finishes once the terminator is accepted")
    func progress() {
        var sender = ChunkedMessageSender(Array("abcde".utf8), chunkSize: 2)
        var seen: [Int] = []
        for _ in 0..<3 {
            sender.advance()
            seen.append(sender.octetsSent)
        }
        #expect(seen == [2, 4, 5])
        #expect(sender.octetCount == 5)
        #expect(!sender.isFinished)
        sender.advance()
        #expect(sender.isFinished)
        #expect(Array(sender.nextChunk).isEmpty)
        sender.advance()
        #expect(sender.isFinished && sender.octetsSent == 5)
    }

    @Test("any message of E, O and M reaches a receiver that checks only for EOM, at any chunk size")
    func exhaustive() {
        for length in 0...7 {
            for number in 0..<power(3, length) {
                let message = (0..<length).map { Array("EOM".utf8)[number / power(3, $0) % 3] }
                for chunkSize in 1...5 {
                    var sender = ChunkedMessageSender(message, chunkSize: chunkSize)
                    var arrived: [UInt8] = []
                    while Array(sender.nextChunk) != Array("EOM".utf8) {
                        arrived += Array(sender.nextChunk)
                        sender.advance()
                    }
                    guard arrived == message else {
                        Issue.record("\(message.hexadecimal()) in chunks of \(chunkSize)")
                        return
                    }
                }
            }
        }
    }

    private func power(_ base: Int, _ exponent: Int) -> Int {
        (0..<exponent).reduce(1) { product, _ in product * base }
    }
}
