import Adaptation
import ArgumentParser
import Foundation
import Projects

@main
struct Adapt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapt",
        abstract: "Changes sources that were written for iOS or macOS so that they compile on Linux.",
        discussion: """
            The changed sources still compile on Apple's platforms. Places that adapt cannot change are listed with \
            file, line and advice. Adapting again changes nothing.

              adapt --dry-run App     print a patch
              adapt App               change the sources and the manifest
              adapt --check App       also compile the result

            Exit codes: 0 no changes are left to make by hand (with --check: the result compiles), 1 some are left, \
            2 uncommitted changes, 3 Objective-C, 4 a target of several languages, 5 an Xcode project without a \
            manifest, 6 a symbolic link out of the directory, 7 a file is not valid Swift, 8 the manifest or the check \
            failed, 64 wrong usage, 66 a file cannot be read, 73 a file cannot be written.
            """)

    @Argument(help: "A package, a folder of sources, or Swift files.")
    var paths: [String]

    @Flag(name: .long, help: "Print the changes as a patch, and make none.")
    var dryRun = false

    @Flag(name: .long, help: "Compile the result, and report the errors that are left.")
    var check = false

    @Flag(name: .long, help: "Change a directory although it has uncommitted changes.")
    var allowDirty = false

    @Option(name: .long, help: "The path or URL of swift-bluetooth-le (default: the checkout of this program).")
    var library: String?

    @Option(name: .long, help: "The folder for the build products of --check.")
    var scratchPath: String?

    @Flag(name: .shortAndLong, help: "Print only what is left to do by hand.")
    var quiet = false

    func run() throws {
        do {
            let isFolder = paths.count == 1 && isDirectory(paths[0])
            if check, !isFolder { throw Obstacle.usage("--check takes one package or folder of sources.") }
            let status = try isFolder ? adaptProject() : adaptFiles()
            if status != Outcome.done { throw ExitCode(status) }
        } catch let obstacle as Obstacle {
            note("error: \(obstacle)")
            throw ExitCode(obstacle.status)
        }
    }

    // MARK: Projects

    private func adaptProject() throws -> Int32 {
        let project = try Project(at: paths[0])
        if !dryRun, !allowDirty { try project.requireCommitted() }
        if dryRun, check {
            let copy = try TemporaryCopy(of: project.directory)
            defer { copy.remove() }
            // The same folder of the copy.
            let path = copy.directory + (try existingPath(paths[0])).dropFirst(project.directory.count)
            let status = try adapt(try Project(at: path)) { copy.original($0) }
            print(copy.patch(), terminator: "")
            return status
        }
        return try adapt(project) { $0 }
    }

    /// - Parameter name: the path that messages use for a path.
    private func adapt(_ project: Project, name: @escaping (String) -> String) throws -> Int32 {
        let run = AdaptationRun(project: project, library: location(), scratchPath: scratchPath)
        let changes = try run.changes()
        if !quiet {
            for link in project.links { note("\(name(link)) is a symbolic link: its destination is adapted.") }
        }
        guard !dryRun || check else {
            for change in changes { print(change.patch, terminator: "") }
            return report(run.results, run.results.flatMap(\.findings).filter { $0.kind == .compilation })
        }
        for change in changes { try change.write() }
        guard check else { return report(run.results, try run.currentFindings()) }
        return report(try run.check { if !quiet { note($0) } }, of: run, name: name)
    }

    /// Reports what is known without a compiler.
    private func report(_ results: [AdaptedText], _ findings: [Finding]) -> Int32 {
        for file in results.flatMap(\.unparsed) { note("\(file)") }
        for finding in findings { note("\(finding)") }
        for finding in results.flatMap(\.findings) where finding.kind == .behavior {
            note("\(finding.file):\(finding.line):\(finding.column): review: \(finding.reason)")
        }
        if !quiet {
            let changed = results.filter { $0.after != $0.before }
            let count = changed.reduce(0) { $0 + $1.edits }
            note(
                "\(results.count) files, \(count) edits in \(changed.count) of them, "
                    + (findings.isEmpty ? "no known place" : "\(findings.count) known places")
                    + " to change by hand. Pass --check to compile the result.")
        }
        if results.contains(where: { !$0.unparsed.isEmpty }) { return Outcome.unparsed }
        return findings.isEmpty ? Outcome.done : Outcome.left
    }

    /// Reports what the compiler has found.
    private func report(_ outcome: CheckOutcome, of run: AdaptationRun, name: (String) -> String) -> Int32 {
        for file in run.results.flatMap(\.unparsed) {
            note("\(Finding(file: name(file.file), line: file.line, column: file.column, reason: file.reason))")
        }
        for finding in outcome.findings {
            note(
                "\(Finding(file: name(finding.file), line: finding.line, column: finding.column, reason: finding.reason))"
            )
        }
        for finding in outcome.reviews {
            note(
                "\(Finding(file: name(finding.file), line: finding.line, column: finding.column, reason: "review: " + finding.reason))"
            )
        }
        if !quiet {
            note(
                "\(run.results.count) files, \(run.edits) edits in \(run.changedFiles) of them, "
                    + (outcome.compiles ? "compiles, 0 left" : "\(outcome.findings.count) left")
                    + " to change by hand.")
        }
        return outcome.compiles ? Outcome.done : Outcome.left
    }

    // MARK: Loose files

    private func adaptFiles() throws -> Int32 {
        let files = try Sources(at: paths)
        if !dryRun, !allowDirty { try files.requireCommitted() }
        let results = Adaptation.adapt(files.texts)
        for result in results where result.after != result.before {
            let change = Change(result)
            if dryRun { print(change.patch, terminator: "") } else { try change.write() }
        }
        // The lines that the findings have now.
        let current =
            dryRun ? results : Adaptation.adapt(results.map { SourceText(path: $0.path, text: $0.after) })
        return report(results, current.flatMap(\.findings).filter { $0.kind == .compilation })
    }

    // MARK: Details

    private func location() -> LibraryLocation {
        guard let library else {
            // Migration/Sources/AdaptTool/Adapt.swift, in the checkout.
            let parts = #filePath.split(separator: "/").dropLast(4)
            return .path("/" + parts.joined(separator: "/"))
        }
        return library.contains("://") || library.hasPrefix("git@") ? .url(library) : .path(absolutePath(library))
    }

    private func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    private func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
