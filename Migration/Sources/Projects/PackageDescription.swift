import Foundation

/// What `swift package dump-package` prints, as far as it is needed.
struct PackageDescription: Decodable {
    struct Target: Decodable {
        let name: String
        let type: String
        let path: String?
        let sources: [String]?
        let exclude: [String]
    }

    struct Dependency: Decodable {
        struct Location: Decodable {
            let path: String
        }
        /// Where a package in the file system is; nil for other packages.
        let fileSystem: [Location]?
    }

    let name: String
    let targets: [Target]
    let dependencies: [Dependency]
    let swiftLanguageVersions: [String]?

    /// Evaluates a manifest.
    static func load(_ directory: String) throws -> PackageDescription {
        let result = try run(
            ["swift", "package", "--package-path", directory, "dump-package"], separatesErrors: true)
        guard result.status == 0,
            let description = try? JSONDecoder().decode(PackageDescription.self, from: Data(result.output.utf8))
        else {
            let errors = try run(["swift", "package", "--package-path", directory, "dump-package"]).output
            let first = errors.split(separator: "\n").first { $0.contains("error:") }.map(String.init) ?? errors
            throw Obstacle.unavailable(reason: "\(directory)/Package.swift cannot be evaluated: \(first)")
        }
        return description
    }
}

/// A target whose sources `adapt` may change.
public struct SourceTarget: Sendable {
    /// The name of the target.
    public let name: String
    /// Whether the target is compiled only for tests.
    public let isTest: Bool
    /// The files and directories of its sources, as absolute paths.
    let roots: [String]
    /// The paths that are not part of it.
    let excluded: [String]

    init?(_ target: PackageDescription.Target, in package: String, isOnlyTarget: Bool) {
        guard ["regular", "executable", "test", "macro"].contains(target.type) else { return nil }
        name = target.name
        isTest = target.type == "test"
        let folders = isTest ? ["Tests", "Sources", "Source", "src", "srcs"] : ["Sources", "Source", "src", "srcs"]
        let candidates =
            target.path.map { [$0] }
            ?? (folders.map { "\($0)/\(target.name)" } + (isOnlyTarget ? folders.prefix(1) : []))
        let existing = candidates.lazy.map { standardized(package + "/" + $0) }
            .first { FileManager.default.fileExists(atPath: $0) }
        guard let base = existing else { return nil }
        roots = target.sources?.map { standardized(base + "/" + $0) } ?? [base]
        excluded = target.exclude.map { standardized(base + "/" + $0) }
    }

    /// Whether a file is one of the target's.
    func contains(_ path: String) -> Bool {
        roots.contains { isPath(path, in: $0) } && !excluded.contains { isPath(path, in: $0) }
    }
}

/// A path without `.`, `..` and repeated separators. Symbolic links stay.
func standardized(_ path: String) -> String {
    let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    var parts: [Substring] = []
    for part in absolute.split(separator: "/") where part != "." {
        if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
}

/// Whether a path is a directory's, or is within it.
func isPath(_ path: String, in directory: String) -> Bool {
    path == directory || path.hasPrefix(directory == "/" ? "/" : directory + "/")
}
