import BluetoothCommandLine
import Testing

@testable import ble

/// `ble l2cap`: the line about the octets it has carried.
struct TransferDisplayTests {
    @Test(
        "Octets are counted in each direction, with the rate",
        arguments: [
            (0, 0, 1000, ""), (1, 0, 1000, "sent 1 octet, 1 B/s"),
            (2000, 500, 1000, "sent 2000 octets, 2.0 kB/s, received 500 octets, 500 B/s"),
            (0, 1_048_576, 3200, "received 1048576 octets, 328 kB/s"),
            (5_000_000, 0, 2000, "sent 5000000 octets, 2.5 MB/s"),
            (1, 0, 0, "sent 1 octet, 1.0 kB/s"),
        ])
    func text(_ sent: Int, _ received: Int, _ milliseconds: Int, _ expected: String) {
        let counts = TransferCounts(sent: sent, received: received)
        #expect(counts.text(after: .milliseconds(milliseconds)) == expected)
    }

    @Test(
        "Progress is shown on a terminal unless that is also where lines are typed or received octets are shown",
        arguments: [
            // `ble l2cap DEVICE 0x80 < FILE` on a terminal: until the device sends something.
            (false, true, true, 0, true), (false, true, true, 1, false),
            // With the output in a file, or in another program.
            (false, false, true, 0, true), (false, false, true, 1, true),
            (true, true, true, 0, false), (true, false, true, 0, false), (false, true, false, 0, false),
        ])
    func live(_ input: Bool, _ output: Bool, _ errors: Bool, _ received: Int, _ expected: Bool) {
        let terminals = TransferDisplay.Terminals(input: input, output: output, errors: errors)
        #expect(terminals.allowLine(beside: TransferCounts(sent: 1000, received: received)) == expected)
    }

    @Test("A count of one is singular", arguments: [(0, "0 octets"), (1, "1 octet"), (2, "2 octets")])
    func number(_ count: Int, _ text: String) {
        #expect(counted(count, "octet") == text)
    }
}
