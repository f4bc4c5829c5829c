import ArgumentParser
import BluetoothCommandLine
import BluetoothPlatform
import Dispatch
import Foundation
import Testing

@testable import ble

/// Work that blocks, in a task that is cancelled.
struct RunInterruptiblyTests {
    @Test("The result or the failure of the work is returned")
    func results() async throws {
        #expect(try await runInterruptibly { 7 } == 7)
        await #expect(throws: CommandFailure(.usage, "no")) {
            try await runInterruptibly { () throws(CommandFailure) in throw CommandFailure(.usage, "no") }
        }
    }

    @Test("Cancelling the task abandons the work")
    func abandoned() async {
        let (starts, continuation) = AsyncStream<Void>.makeStream()
        let end = DispatchSemaphore(value: 0)
        let task = Task {
            try await runInterruptibly {
                continuation.finish()
                end.wait()
            }
        }
        for await _ in starts {}
        task.cancel()
        await #expect(throws: CommandFailure(.failure, nil)) { try await task.value }
        end.signal()
    }

    @Test("Cancelling ble decode ends it, although its pipe has no data")
    func decode() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "decode-\(UUID().uuidString)").path()
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        // The writer, which writes nothing.
        let pipe = open(path, O_RDWR)
        let task = Task { try await Decode.parse([path]).run() }
        task.cancel()
        // Ends the read that was abandoned.
        close(pipe)
        await #expect(throws: CommandFailure(.failure, nil)) { try await task.value }
    }
}
