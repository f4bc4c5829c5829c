import ArgumentParser
import BluetoothPlatform
import Testing

@testable import BluetoothCommandLine

/// Programs whose standard streams are closed.
struct StandardStreamsTests {
    @Test("What is closed is taken, so that nothing of ours takes it, and fails when used")
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

    @Test("What is open stays as it is")
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

    @Test("A program whose results could not be written does not begin; one that writes none does")
    func refusal() async {
        await #expect(processExitsWith: .exitCode(ExitStatus.usage.rawValue)) {
            close(STDOUT_FILENO)
            try StandardStreams.occupy()
            exit(await Printing.status(of: []).rawValue)
        }
        await #expect(processExitsWith: .exitCode(66)) {
            close(STDOUT_FILENO)
            try StandardStreams.occupy()
            exit(await Serving.status(of: []).rawValue)
        }
    }
}
