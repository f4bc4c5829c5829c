import Adaptation
import Foundation

/// What a check has found.
public struct CheckOutcome {
    /// Whether the package compiles.
    public let compiles: Bool
    /// The errors that are left, with advice.
    public let findings: [Finding]
    /// Places that compile, and may behave differently on Linux.
    public let reviews: [Finding]
}

/// Adapts a project, and compiles it.
public final class AdaptationRun {
    /// The project.
    public let project: Project
    private let library: LibraryLocation
    private let scratchPath: String?
    /// The sources before and after.
    public private(set) var results: [AdaptedText] = []
    /// How many edits were made.
    public private(set) var edits = 0
    private var changed: Set<String> = []
    private var usesSwift5 = false

    /// How many files were changed.
    public var changedFiles: Int { changed.count }

    /// A file is repaired a few times: one error can hide another.
    private static let roundLimit = 12

    /// Prepares to adapt a project.
    public init(project: Project, library: LibraryLocation, scratchPath: String?) {
        (self.project, self.library, self.scratchPath) = (project, library, scratchPath)
    }

    /// The changes of the sources and of the manifest. They are not written.
    ///
    /// - Throws: `Obstacle`
    public func changes() throws -> [Change] {
        results = Adaptation.adapt(try project.files.map(sourceText))
        for result in results where result.after != result.before { count(result) }
        let manifest = try project.manifest(for: results, library: library)
        let sources = results.filter { $0.after != $0.before }.map { Change($0) }
        return try sources + manifest.changes(in: project.directory) + project.localPackages.flatMap(localChanges)
    }

    /// The changes of a package within this one.
    private func localChanges(_ path: String) throws -> [Change] {
        let inner = AdaptationRun(project: try Project(at: path), library: library, scratchPath: nil)
        let changes = try inner.changes()
        results += inner.results
        edits += inner.edits
        changed.formUnion(inner.changed)
        return changes
    }

    private func count(_ result: AdaptedText) {
        edits += result.edits
        changed.insert(result.path)
    }

    /// Compiles the project, repairs what the compiler reports, and adapts copies of dependencies that need it, until
    /// the project compiles or no error can be repaired.
    ///
    /// - Parameter progress: receives a line about each step.
    /// - Throws: `Obstacle`
    public func check(progress: (String) -> Void) throws -> CheckOutcome {
        let check = Check(directory: project.directory, scratchPath: scratchPath, targets: project.chosenTargets)
        var copied: Set<String> = []
        for dependency in try check.dependenciesWithBluetooth(but: library.identity) {
            copied.insert(dependency.name)
            progress("\(dependency.name) imports CoreBluetooth: adapting a copy in Dependencies/")
            try adaptCopy(of: dependency)
        }
        for round in 1...Self.roundLimit {
            progress(round == 1 ? "Compiling…" : "Compiling again…")
            guard case .fails(let own, let foreign) = try check.run() else {
                return CheckOutcome(
                    compiles: true, findings: [], reviews: reviews)
            }
            var hasProgress = false
            for error in foreign {
                guard let dependency = check.dependency(of: error.file), copied.insert(dependency.name).inserted else {
                    continue
                }
                progress("\(dependency.name) does not compile on Linux: adapting a copy in Dependencies/")
                try adaptCopy(of: dependency)
                hasProgress = true
            }
            if try repair(own, progress) { hasProgress = true }
            if !hasProgress, try repair(own, hidesRest: true, progress) { hasProgress = true }
            if !hasProgress, !usesSwift5, own.contains(where: \.isAboutConcurrency) {
                progress("Errors about concurrency are left: Linux compiles the package in Swift 5 mode")
                usesSwift5 = true
                try rewriteManifest(of: project)
                hasProgress = true
            }
            if !hasProgress || round == Self.roundLimit { return try left(own + foreign) }
        }
        return try left([])
    }

    /// Repairs errors of the compiler, and returns whether anything has changed.
    private func repair(_ errors: [Diagnostic], hidesRest: Bool = false, _ progress: (String) -> Void) throws -> Bool {
        var isChanged = false
        let byFile = Dictionary(grouping: errors, by: \.file)
        let texts = try byFile.keys.sorted().map(sourceText)
        for result in Adaptation.repair(texts, errors: errors, hidesRest: hidesRest)
        where result.after != result.before {
            for finding in result.findings { progress("\(finding)") }
            try Change(result).write()
            count(result)
            isChanged = true
        }
        guard isChanged else { return false }
        // What a repair has hidden is followed to its uses. It can also have imported another module.
        try adaptAgain(project)
        for name in try copies() {
            try adaptAgain(try Project(at: project.directory + "/Dependencies/" + name))
        }
        return true
    }

    private func copies() throws -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: project.directory + "/Dependencies")) ?? []
        return names.filter {
            FileManager.default.fileExists(atPath: "\(project.directory)/Dependencies/\($0)/Package.swift")
        }
    }

    private func adaptAgain(_ project: Project) throws {
        for result in Adaptation.adapt(try project.files.map(sourceText)) where result.after != result.before {
            try Change(result).write()
            count(result)
        }
        try rewriteManifest(of: project)
    }

    private func rewriteManifest(of project: Project) throws {
        let texts = try project.files.map { path -> AdaptedText in
            let source = try sourceText(path)
            return AdaptedText(unchanged: source)
        }
        let manifest = try project.manifest(for: texts, library: library, usesSwift5: usesSwift5)
        for change in manifest.changes(in: project.directory) { try change.write() }
    }

    /// Copies a dependency into the project, and adapts the copy. The manifest uses the copy on Linux.
    private func adaptCopy(of dependency: (name: String, directory: String)) throws {
        let manager = FileManager.default
        let copy = project.directory + "/Dependencies/" + dependency.name
        do {
            try manager.createDirectory(
                atPath: project.directory + "/Dependencies", withIntermediateDirectories: true)
            if !manager.fileExists(atPath: copy) {
                try manager.copyItem(atPath: dependency.directory, toPath: copy)
                // The copy belongs to the project's repository.
                try? manager.removeItem(atPath: copy + "/.git")
            }
            // Checkouts are read-only.
            _ = try Projects.run(["chmod", "-R", "u+w", copy])
        } catch {
            throw Obstacle.unwritable(path: copy, reason: error.localizedDescription)
        }
        let inner = AdaptationRun(project: try Project(at: copy), library: library, scratchPath: nil)
        for change in try inner.changes() { try change.write() }
        // The description names the copies.
        try rewriteManifest(of: try Project(at: project.directory))
    }

    /// What is left to do by hand in the sources as they are now, with the lines that they have now.
    public func currentFindings() throws -> [Finding] {
        Adaptation.adapt(try project.files.map(sourceText)).flatMap(\.findings).filter { $0.kind == .compilation }
    }

    /// Places that compile and may behave differently on Linux, with the lines that they had before.
    public var reviews: [Finding] { results.flatMap(\.findings).filter { $0.kind == .behavior } }

    /// The errors that are left, with the advice of the finding on the same line, or of the compiler's text.
    private func left(_ errors: [Diagnostic]) throws -> CheckOutcome {
        let current = try currentFindings()
        let known = Dictionary(grouping: current) { Place(file: $0.file, line: $0.line) }
        let findings = errors.map { error in
            let advice =
                known[Place(file: error.file, line: error.line)]?.first?.reason ?? Advice.text(for: error.message)
            return Finding(
                file: error.file, line: error.line, column: error.column,
                reason: "error: " + error.message + (advice.map { " Advice: \($0)" } ?? ""))
        }
        return CheckOutcome(
            compiles: false, findings: Array(Set(findings)).sorted(), reviews: reviews)
    }
}

private struct Place: Hashable {
    let file: String
    let line: Int
}
