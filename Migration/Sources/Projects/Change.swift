import Adaptation
import Foundation

/// A file before and after.
public struct Change {
    /// The path of the file.
    public let path: String
    /// The contents before; nil if the file is new.
    public let before: String?
    /// The contents after.
    public let after: String

    init(path: String, before: String?, after: String) {
        (self.path, self.before, self.after) = (path, before, after)
    }

    /// Creates the change of a source file.
    public init(_ text: AdaptedText) { self.init(path: text.path, before: text.before, after: text.after) }

    /// The change as a unified diff, with the path from the current directory.
    public var patch: String {
        let current = FileManager.default.currentDirectoryPath
        let name = isPath(path, in: current) ? String(path.dropFirst(current.count + 1)) : String(path.dropFirst())
        return unifiedDiff(before, after, path: name)
    }

    /// Writes the file.
    ///
    /// - Throws: `Obstacle.unwritable`
    public func write() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try after.write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            throw Obstacle.unwritable(path: path, reason: error.localizedDescription)
        }
    }
}

/// Swift files that need not belong to a package.
public struct Sources {
    /// The files, with their contents.
    public let texts: [SourceText]

    /// Reads files, and the Swift files in directories.
    ///
    /// - Throws: `Obstacle`
    public init(at paths: [String]) throws {
        texts = try paths.flatMap { path in
            let files = Files(at: try existing(path))
            if let example = files.objectiveC.first, files.swift.isEmpty {
                throw Obstacle.objectiveC(target: path, example: example)
            }
            return try files.swift.isEmpty ? [sourceText(try existing(path))] : files.swift.map(sourceText)
        }
    }

    /// Throws if one of the files has changes that are not in git.
    public func requireCommitted() throws {
        for text in texts {
            let directory = (text.path as NSString).deletingLastPathComponent
            let status = try run(
                ["git", "-C", directory, "status", "--porcelain", "--", text.path], separatesErrors: true)
            if status.status == 0, !status.output.isEmpty {
                throw Obstacle.uncommittedChanges(directory: directory, example: text.path)
            }
        }
    }
}

/// A path from the root directory.
public func absolutePath(_ path: String) -> String { standardized(path) }

/// A path from the root directory, without symbolic links.
///
/// - Throws: `Obstacle.unreadable`
public func existingPath(_ path: String) throws -> String { try existing(path) }

/// A copy of a project, in which changes can be tried.
public struct TemporaryCopy {
    /// The directory of the copy.
    public let directory: String
    private let source: String

    /// Copies a directory, without what is hidden or built.
    public init(of source: String) throws {
        self.source = source
        let root = standardized(NSTemporaryDirectory() + "/adapt-" + UUID().uuidString)
        // The name of the folder is the package's identity.
        directory = root + "/" + (source as NSString).lastPathComponent
        let manager = FileManager.default
        do {
            try manager.createDirectory(atPath: directory, withIntermediateDirectories: true)
            for name in try manager.contentsOfDirectory(atPath: source) where !name.hasPrefix(".") {
                try manager.copyItem(atPath: source + "/" + name, toPath: directory + "/" + name)
            }
        } catch {
            throw Obstacle.unwritable(path: directory, reason: error.localizedDescription)
        }
    }

    /// Removes the copy.
    public func remove() {
        try? FileManager.default.removeItem(atPath: (directory as NSString).deletingLastPathComponent)
    }

    /// The path that a path in the copy has in the source.
    public func original(_ path: String) -> String {
        isPath(path, in: directory) ? source + path.dropFirst(directory.count) : path
    }

    /// The differences of the copy from its source, without copied dependencies.
    public func patch() -> String {
        let paths = Files(at: directory).swift + [directory + "/Package.swift"]
        return paths.sorted().compactMap { path in
            guard let after = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
            let before = try? String(contentsOfFile: original(path), encoding: .utf8)
            return before == after ? nil : Change(path: original(path), before: before, after: after).patch
        }
        .joined()
    }
}
