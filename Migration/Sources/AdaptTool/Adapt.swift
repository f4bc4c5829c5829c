import Adaptation
import ArgumentParser
import Foundation

@main
struct Adapt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapt",
        abstract: "Prepares sources that were written for iOS or macOS for Linux.",
        discussion: """
            Takes out or rewrites what Linux cannot compile, and keeps it for Apple's platforms where they need it. What \
            is left to do by hand is listed with file, line and reason. Adapting twice changes nothing the second time.

              adapt --dry-run Sources     show what would be changed
              adapt Sources               change it

            Exit codes: 0 nothing is left to do by hand, 1 something is, 64 wrong usage, 66 a file cannot be read, \
            73 a file cannot be written.
            """)

    @Argument(help: "Files, and directories with Swift files.")
    var paths: [String]

    @Flag(name: .long, help: "Show the changes as a diff, and make none.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Say nothing about files that were changed.")
    var quiet = false

    func run() throws {
        let results = Adaptation.adapt(try sources())
        for result in results where result.after != result.before {
            if dryRun {
                print(unifiedDiff(result.before, result.after, path: result.path), terminator: "")
            } else {
                try write(result)
            }
        }
        let findings = results.flatMap(\.findings)
        for finding in findings { note("\(finding)") }
        if !quiet {
            let changed = results.filter { $0.after != $0.before }
            note(
                "\(results.count) files, \(changed.reduce(0) { $0 + $1.edits }) edits in \(changed.count) of them, "
                    + "\(findings.count) left to do by hand")
        }
        if !findings.isEmpty { throw ExitCode(1) }
    }

    private func sources() throws -> [SourceText] {
        try paths.flatMap(files).map { path in
            guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8)
            else { throw failure("\(path) cannot be read as UTF-8 text", 66) }
            return SourceText(path: path, text: text)
        }
    }

    /// The Swift files of a directory, but for what is built or fetched.
    private func files(_ path: String) throws -> [String] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw failure("there is no \(path)", 66)
        }
        guard isDirectory.boolValue else { return [path] }
        guard let names = FileManager.default.enumerator(atPath: path) else {
            throw failure("\(path) cannot be read", 66)
        }
        return names.compactMap { $0 as? String }
            .filter { name in
                name.hasSuffix(".swift") && (name as NSString).lastPathComponent != "Package.swift"
                    && !name.split(separator: "/").contains { $0.hasPrefix(".") || $0 == "Pods" || $0 == "Carthage" }
            }
            .sorted().map { path + (path.hasSuffix("/") ? "" : "/") + $0 }
    }

    private func write(_ result: AdaptedText) throws {
        do {
            try result.after.write(toFile: result.path, atomically: true, encoding: .utf8)
        } catch {
            throw failure("\(result.path) cannot be written: \(error.localizedDescription)", 73)
        }
    }

    private func failure(_ text: String, _ code: Int32) -> ExitCode {
        note("error: \(text)")
        return ExitCode(code)
    }

    private func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
