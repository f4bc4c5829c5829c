import BluetoothPlatform
import Testing

@testable import BluetoothCommandLine

/// A program that is asked to end does so cleanly: it releases what it has taken.
struct InterruptionTests {
    @Test("Closing the terminal cancels the program")
    func hangUp() async {
        await #expect(processExitsWith: .exitCode(128 + SIGHUP)) { await interrupted(by: SIGHUP) }
    }

    @Test("SIGTERM and SIGINT cancel the program")
    func termination() async {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) { await interrupted(by: SIGTERM) }
        await #expect(processExitsWith: .exitCode(128 + SIGINT)) { await interrupted(by: SIGINT) }
    }

    @Test("A program started by nohup outlives its terminal")
    func noHangUp() async {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
            signal(SIGHUP, SIG_IGN)
            await interrupted(by: SIGHUP, SIGTERM)
        }
    }

    @Test("A program that does not react to its cancellation is ended after the time limit")
    func deaf() async {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
            let interruption = Interruption(limit: .milliseconds(10))
            // It waits for nothing that could come, on a thread that is needed for tasks.
            let work = Task { while true { pause() } }
            interruption.cancel(work)
            kill(getpid(), SIGTERM)
            await work.value
        }
    }

    @Test("A program whose errors nobody reads can be cancelled")
    func unreadErrors() async {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
            var ends: [Int32] = [-1, -1]
            pipe(&ends)
            dup2(ends[1], STDERR_FILENO)
            // No limit: it ends by itself.
            let interruption = Interruption(limit: .seconds(3600))
            let work = Task {
                while !Task.isCancelled { say(String(repeating: "an error ", count: 100)) }
            }
            interruption.cancel(work)
            kill(getpid(), SIGTERM)
            await work.value
            exit(interruption.status ?? 0)
        }
    }

    @Test("A closed output is an error, not a signal")
    func brokenPipe() async {
        await #expect(processExitsWith: .exitCode(ExitStatus.failure.rawValue)) {
            Interruption().cancel(Task {})
            var ends: [Int32] = [-1, -1]
            pipe(&ends)
            dup2(ends[1], STDOUT_FILENO)
            close(ends[0])
            do throws(CommandFailure) {
                try writeLine("a")
            } catch {
                exit(error == CommandFailure(.failure, nil) ? error.status.rawValue : 99)
            }
        }
    }
}

/// Waits until it is cancelled by signals, and ends the process like a program.
private func interrupted(by signals: Int32...) async -> Never {
    let interruption = Interruption()
    let work = Task { try? await Task.sleep(for: .seconds(60)) }
    interruption.cancel(work)
    for signal in signals { kill(getpid(), signal) }
    _ = await work.value
    exit(interruption.status ?? 0)
}
