import Foundation

/// A finished command.
struct CommandResult {
    let status: Int32
    let output: String
}

/// Runs a command, and collects what it prints.
///
/// - Parameter separatesErrors: whether standard error is dropped instead of being part of the output.
func run(_ arguments: [String], in directory: String? = nil, separatesErrors: Bool = false) throws -> CommandResult {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    let pipe = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = separatesErrors ? FileHandle.nullDevice : pipe
    do {
        try process.run()
    } catch {
        throw Obstacle.unavailable(reason: "\(arguments[0]) cannot be run: \(error.localizedDescription)")
    }
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return CommandResult(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
}
