import BluetoothLE

/// The octets of a channel, in the asynchronous API.
extension AsyncFace {
    static func writeBlocks(_ count: Int, over connection: Connection) async throws {
        let channel = try await connection.openChannel(to: Workload.psm)
        let flow = Flow()
        for _ in 0..<count { try await channel.write(Workload.block) }
        // The peer sends an octet when it has received all blocks.
        guard try await channel.read() != nil else { fail("the channel has been closed") }
        flow.end(operations: count)
    }

    static func readBlocks(_ count: Int, over connection: Connection) async throws {
        let channel = try await connection.openChannel(to: Workload.psm)
        let flow = Flow()
        var blocks = Blocks(count: count)
        // The peer waits for this octet.
        try await channel.write([1])
        for try await octets in channel {
            blocks.receive(octets)
            if blocks.isComplete { break }
        }
        flow.end(operations: blocks.received, lost: count - blocks.received)
    }
}
