import ArgumentParser
import Dispatch
import Glibc

/// An executable of this package: its arguments and its action.
///
/// Conform to it instead of `AsyncParsableCommand`. Any error is then reported in one line on standard error, and the
/// exit status gives its kind; SIGINT, SIGTERM and SIGHUP cancel `run()`, so that it ends cleanly.
public protocol CommandLineProgram: AsyncParsableCommand {}

/// A command that writes nothing to standard output. All others refuse to begin where that is closed.
public protocol CommandWithoutOutput: ParsableCommand {}

extension CommandLineProgram {
    /// Runs the program, and ends the process.
    public static func main() {
        // Before anything else opens a descriptor: an asynchronous `main` would find the dispatcher's in place already.
        do { try StandardStreams.occupy() } catch { Glibc.exit(tell(error).rawValue) }
        Task { await launch() }
        dispatchMain()
    }

    private static func launch() async {
        let interruption = Interruption()
        // No sooner: a signal that came meanwhile would leave things as they are.
        let work = Task { await self.status(of: Array(CommandLine.arguments.dropFirst())) }
        interruption.cancel(work)
        let result = await work.value
        Glibc.exit(interruption.status ?? result.rawValue)
    }

    /// Parses the arguments and runs the program; reports any error.
    static func status(of arguments: [String]) async -> ExitStatus {
        do {
            var command = try await asyncParseAsRoot(arguments)
            guard command is any CommandWithoutOutput || StandardStreams.isOutputWritable else {
                throw CommandFailure(.usage, "standard output is closed; redirect it to where the results are to go")
            }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .success
        } catch {
            return tell(error)
        }
    }

    private static func tell(_ error: any Error) -> ExitStatus {
        // The parser also throws requests for help.
        if exitCode(for: error) == .success {
            print(fullMessage(for: error))
            return .success
        }
        let failure = failure(of: error)
        // The user who cancelled the program knows.
        if let message = failure.message { say("\(_commandName): \(message)") }
        return failure.status
    }

    /// The exit status for an error.
    static func failure(of error: any Error) -> CommandFailure {
        CommandFailure(error) ?? CommandFailure(.usage, oneLine(message(for: error)) + "; see \(_commandName) --help")
    }

    private static func oneLine(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: " ")
    }
}
