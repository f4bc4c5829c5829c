import ArgumentParser
import BluetoothPlatform
import Testing

@testable import BluetoothCommandLine

/// Programs whose standard streams are closed.
struct StandardStreamsTests {
    @Test("Closed standard descriptors are occupied, and using them fails")
    func occupied() async {
        await #expect(processExitsWith: .exitCode(77)) {
            for descriptor in STDIN_FILENO...STDERR_FILENO { close(descriptor) }
            try StandardStreams.occupy()
            let next = open("/dev/null", O_RDONLY)
            var byte: UInt8 = 0
            let isRight =
                next > STDERR_FILENO && read(STDIN_FILENO, &byte, 1) < 0 && write(STDOUT_FILENO, &byte, 1) < 0
                && write(STDERR_FILENO, &byte, 1) < 0 && !StandardStreams.isOutputWritable
            exit(isRight ? 77 : 1)
        }
    }

    @Test("Open standard descriptors are left unchanged")
    func kept() async {
        await #expect(processExitsWith: .exitCode(77)) {
            close(STDIN_FILENO)
            try StandardStreams.occupy()
            exit(StandardStreams.isOutputWritable && fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE != O_RDONLY ? 77 : 1)
        }
    }

    private struct Printing: CommandLineProgram {
        func run() async throws { BluetoothPlatform.exit(66) }
    }

    private struct Serving: CommandLineProgram, CommandWithoutOutput {
        func run() async throws { BluetoothPlatform.exit(66) }
    }

    /// Closes standard output, and has it taken. A thread of the tests may be quicker and get the descriptor for
    /// itself.
    private static func closeOutput() throws {
        for _ in 0..<100 where StandardStreams.isOutputWritable {
            close(STDOUT_FILENO)
            try StandardStreams.occupy()
        }
    }

    @Test("Help that cannot be written is a failure")
    func unwritableHelp() async {
        await #expect(processExitsWith: .exitCode(ExitStatus.failure.rawValue)) {
            dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO)
            exit(await Printing.status(of: ["--help"]).rawValue)
        }
    }

    @Test("With standard output closed, a program with results does not start; one without results does")
    func refusal() async {
        await #expect(processExitsWith: .exitCode(ExitStatus.usage.rawValue)) {
            try Self.closeOutput()
            exit(await Printing.status(of: []).rawValue)
        }
        await #expect(processExitsWith: .exitCode(66)) {
            try Self.closeOutput()
            exit(await Serving.status(of: []).rawValue)
        }
    }
}
