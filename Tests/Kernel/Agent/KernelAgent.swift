import BluetoothLE
import Foundation
import Synchronization

/// Calls the library's public API on behalf of another process, so that a test can run several stacks at once and end
/// each of them in any way.
///
/// Standard input carries a `Request` a line, standard output a `Reply` or an `Event` a line. Requests are carried out
/// at the same time, and each is answered once. At the end of the input the adapter is closed.
@main
struct KernelAgent {
    static func main() async {
        let output = Output()
        let agent = Agent(output: output)
        // Discarding, since a group otherwise keeps finished tasks until their results are taken.
        await withDiscardingTaskGroup { group in
            for await line in lines() {
                guard let request = try? JSONDecoder().decode(Request.self, from: Data(line.utf8)) else {
                    output.write(Reply(id: -1, error: "not a request: \(line)", kind: "request"))
                    continue
                }
                group.addTask {
                    do {
                        output.write(try await agent.perform(request))
                    } catch {
                        output.write(Reply(id: request.id, error: "\(error)", kind: kind(of: error)))
                    }
                }
            }
            await agent.close()
        }
    }

    /// The lines of standard input. Reading blocks, so it has its own thread.
    private static func lines() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }

    /// The kind of error, as a word for tests to compare.
    private static func kind(of error: any Error) -> String {
        guard let error = error as? BluetoothError else { return "agent" }
        switch error.code {
        case .disconnected: return "disconnected"
        case .timedOut: return "timedOut"
        case .cancelled: return "cancelled"
        case .att: return "att"
        case .transport: return "transport"
        case .adapter: return "adapter"
        case .adapterClosed: return "adapterClosed"
        case .adapterRemoved: return "adapterRemoved"
        default: return "other"
        }
    }
}

/// Standard output, one complete line at a time.
final class Output: Sendable {
    private let file = Mutex(FileHandle.standardOutput)

    func write(_ value: some Encodable) {
        guard var line = try? JSONEncoder().encode(value) else { return }
        line.append(UInt8(ascii: "\n"))
        file.withLock { try? $0.write(contentsOf: line) }
    }
}
