import ArgumentParser
import BluetoothPlatform
import Dispatch

/// An executable of this package: its arguments and its action.
///
/// Conform to it instead of `AsyncParsableCommand`. Errors are then reported in one line on standard error, and the
/// exit status states their kind. SIGINT, SIGTERM and SIGHUP cancel `run()`, so that it ends cleanly.
public protocol CommandLineProgram: AsyncParsableCommand {}

/// A command that writes nothing to standard output. All other commands refuse to start if standard output is closed.
public protocol CommandWithoutOutput: ParsableCommand {}

extension CommandLineProgram {
    /// Runs the program, and ends the process.
    public static func main() {
        // Before anything else opens a descriptor. In an asynchronous `main`, the dispatcher would already have opened
        // some.
        do { try StandardStreams.occupy() } catch { BluetoothPlatform.exit(tell(error).rawValue) }
        Task { await launch() }
        dispatchMain()
    }

    private static func launch() async {
        let interruption = Interruption()
        // Only now: without the signal handlers, a signal would end the program without cleaning up.
        let work = Task { await self.status(of: Array(CommandLine.arguments.dropFirst())) }
        interruption.cancel(work)
        let result = await work.value
        BluetoothPlatform.exit(interruption.status ?? result.rawValue)
    }

    /// Parses the arguments and runs the program; reports any error.
    static func status(of arguments: [String]) async -> ExitStatus {
        do {
            var command = try await asyncParseAsRoot(arguments)
            guard command is any CommandWithoutOutput || StandardStreams.isOutputWritable else {
                throw CommandFailure(.usage, "standard output is closed; redirect it to a file or a pipe")
            }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .success
        } catch {
            return tell(error, arguments)
        }
    }

    private static func tell(_ error: any Error, _ arguments: [String] = []) -> ExitStatus {
        // The parser also throws requests for help.
        if exitCode(for: error) == .success {
            let columns = StandardStreams.columns(of: STDOUT_FILENO)
            do throws(CommandFailure) {
                try writeLine(HelpText.wrapped(fullMessage(for: error, columns: columns), columns: columns))
                return .success
            } catch {
                return tell(failure: error)
            }
        }
        return tell(failure: failure(of: error, arguments))
    }

    private static func tell(failure: CommandFailure) -> ExitStatus {
        // If the user cancelled the program, no message is needed.
        if let message = failure.message { say("\(_commandName): \(message)") }
        return failure.status
    }

    /// The failure for an error, with its message.
    static func failure(of error: any Error, _ arguments: [String] = []) -> CommandFailure {
        if let failure = CommandFailure(error) { return failure }
        var path = _commandName, command: any ParsableCommand.Type = self, rest = arguments[...]
        while let name = rest.first,
            let subcommand = command.configuration.subcommands.first(where: { $0._commandName == name })
        {
            path += " " + name
            command = subcommand
            rest.removeFirst()
        }
        let message: String
        let commands = command.configuration.subcommands.map { $0._commandName }
        if let word = rest.first, !word.hasPrefix("-"), word != "help", !commands.isEmpty {
            // The options of an unknown command are also unknown.
            message = "Unknown command '\(word)'" + Suggestion.question(Suggestion.closest(to: word, among: commands))
        } else {
            message = HelpText.oneLine(self.message(for: error))
                .withHint(from: rest, options: HelpText.options(in: help(for: command, columns: 80)))
        }
        return CommandFailure(.usage, message + (message.hasSuffix("?") ? " See" : "; see") + " \(path) --help")
    }
}

extension String {
    /// A message of the parser, with information that the parser omits: why a value was refused, and that an option is
    /// unknown and its value was taken for an argument.
    fileprivate func withHint(from arguments: ArraySlice<String>, options: [String]) -> String {
        let words = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map {
            String($0.prefix { $0 != "=" })
        }
        if !contains("Unknown option"), let unknown = words.first(where: { !options.contains($0) }) {
            return "Unknown option '\(unknown)'" + Suggestion.question(Suggestion.closest(to: unknown, among: options))
        }
        return self + (ArgumentRefusal.reason(behind: self).map { ": \($0)" } ?? "")
    }
}
