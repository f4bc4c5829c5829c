import ArgumentParser
import Glibc

/// An executable of this package: its arguments and its action.
///
/// Conform to it instead of `AsyncParsableCommand`. Any error is then reported in one line on standard error, and the
/// exit status gives its kind; SIGINT, SIGTERM and SIGHUP cancel `run()`, so that it ends cleanly.
public protocol CommandLineProgram: AsyncParsableCommand {}

extension CommandLineProgram {
    /// Runs the program, and ends the process.
    public static func main() async {
        let interruption = Interruption()
        let work = Task { await self.status(of: Array(CommandLine.arguments.dropFirst())) }
        interruption.cancel(work)
        let result = await work.value
        Glibc.exit(interruption.status ?? result.rawValue)
    }

    /// Parses the arguments and runs the program; reports any error.
    static func status(of arguments: [String]) async -> ExitStatus {
        do {
            var command = try await asyncParseAsRoot(arguments)
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
