import Adaptation
import Foundation

/// The package, or the folder of sources, that `adapt` changes.
public struct Project {
    /// The directory with the manifest.
    public let directory: String
    /// The targets that the manifest declares; empty if there is no manifest yet.
    public let targets: [SourceTarget]
    /// The sources to adapt.
    public let files: [String]
    /// Whether the manifest states language modes.
    private let setsLanguageModes: Bool
    /// The names of all targets, with those of other languages.
    private let targetNames: Set<String>
    private let hasManifest: Bool
    /// The targets to compile if the path is a folder within the package; empty for the whole package.
    public let chosenTargets: [String]
    /// The directories of the packages within this one that it depends on, without adapted copies.
    let localPackages: [String]
    /// Symbolic links within the directory: the files that they lead to are adapted in place.
    public let links: [String]

    /// The path of the manifest.
    public var manifestPath: String { directory + "/Package.swift" }

    /// Finds the project that a path belongs to.
    ///
    /// - Parameter path: a package, a folder of one of its targets, or a folder of sources without a manifest.
    /// - Throws: `Obstacle`
    public init(at path: String) throws {
        let path = try existing(path)
        var local: [String] = []
        let generated = (try? String(contentsOfFile: path + "/Package.swift", encoding: .utf8))?
            .contains(Manifest.generatedMark)
        if generated != true, let package = try Self.package(around: path) {
            let description = package.description
            directory = package.directory
            hasManifest = true
            setsLanguageModes = description.swiftLanguageVersions != nil
            targets = package.targets
            local = description.dependencies.flatMap { $0.fileSystem ?? [] }.map { standardized($0.path) }
            // What adapt has added is found again.
            targetNames = Set(description.targets.filter { $0.path?.hasPrefix("Dependencies/") != true }.map(\.name))
        } else {
            (directory, targets, hasManifest, setsLanguageModes, targetNames) = (path, [], false, true, [])
        }
        let (directory, targets) = (directory, targets)
        localPackages = local.filter { isPath($0, in: directory) && !isPath($0, in: directory + "/Dependencies") }
        let found = Files(at: path) { file in
            guard !targets.isEmpty else { return true }
            // Directories on the way to a target are entered.
            return targets.contains { target in
                target.contains(file) || target.roots.contains { isPath($0, in: file) }
            }
        }
        if !hasManifest, !found.xcodeProjects.isEmpty {
            throw Obstacle.xcodeProject(name: found.xcodeProjects[0], folders: Self.folders(of: found.swift, in: path))
        }
        for target in targets.isEmpty ? [nil] : targets.map(Optional.some) {
            let isOwn = { (file: String) in target?.contains(file) ?? true }
            let name = target.map { "The target \($0.name)" } ?? path
            let swift = found.swift.filter(isOwn)
            if let example = found.objectiveC.first(where: isOwn) {
                throw swift.isEmpty
                    ? Obstacle.objectiveC(target: name, example: example)
                    : Obstacle.mixedTarget(target: name, example: example)
            }
            if let example = found.c.first(where: isOwn), !swift.isEmpty {
                throw Obstacle.mixedTarget(target: name, example: example)
            }
        }
        if let link = found.links.first(where: { !isPath($0.destination, in: directory) }) {
            throw Obstacle.symbolicLink(path: link.path, destination: link.destination)
        }
        links = found.links.map(\.path)
        chosenTargets =
            path == directory
            ? []
            : targets.filter { target in !target.isTest && found.swift.contains(where: target.contains) }.map(\.name)
        // A target may consist of links to the files of another one.
        files = found.swift.filter { file in targets.isEmpty || targets.contains { $0.contains(file) } }
        if files.isEmpty, found.links.isEmpty {
            throw Obstacle.unreadable(path: path, reason: "it contains no Swift files")
        }
    }

    /// Throws if files of the project have changes that are not in git. Without git, nothing is known.
    public func requireCommitted() throws {
        let status = try run(["git", "-C", directory, "status", "--porcelain", "--", "."], separatesErrors: true)
        guard status.status == 0, let first = status.output.split(separator: "\n").first else { return }
        throw Obstacle.uncommittedChanges(directory: directory, example: String(first.dropFirst(3)))
    }

    /// The manifest before, and with the products that the adapted sources need on Linux.
    func manifest(for results: [AdaptedText], library: LibraryLocation, usesSwift5: Bool = false) throws -> Manifests {
        let sources = results.map { SourceText(path: $0.path, text: $0.after) }
        guard hasManifest else {
            let (compiled, excluded) = Self.split(sources, in: directory)
            let products = compiled.reduce(into: Set<Product>()) { $0.formUnion(Product.imported(by: $1)) }
            let isProgram = compiled.contains { source in
                (source.path as NSString).lastPathComponent == "main.swift" || Adaptation.hasEntryPoint(source)
            }
            let systemLibraries = compiled.reduce(into: Set<SystemLibrary>()) {
                $0.formUnion(SystemLibrary.imported(by: $1))
            }
            let text = Manifest.generated(
                name: (directory as NSString).lastPathComponent, products: products,
                systemLibraries: systemLibraries, isProgram: isProgram, excluded: excluded, library: library)
            let before = try? String(contentsOfFile: manifestPath, encoding: .utf8)
            return Manifests(before: before, after: text, systemLibraries: systemLibraries)
        }
        guard let before = try? String(contentsOfFile: manifestPath, encoding: .utf8) else {
            throw Obstacle.unreadable(path: manifestPath, reason: "it is not UTF-8 text")
        }
        // What another run has found for other folders of the package counts as well.
        let known = Set(sources.map(\.path))
        let others = targets.flatMap { target in
            target.roots.flatMap { Files(at: $0, isIncluded: target.contains).swift }
        }
        .filter { !known.contains($0) }.compactMap { try? sourceText($0) }
        let needs = targets.map { target in
            let own = (sources + others).filter { target.contains($0.path) }
            // A target of links imports what the files that they lead to import.
            let destinations = links.filter(target.contains).map {
                URL(fileURLWithPath: $0).resolvingSymlinksInPath().path
            }
            let linked = (sources + others).filter { source in
                destinations.contains { isPath(source.path, in: $0) }
            }
            let all = own + linked
            return TargetNeeds(
                name: target.name,
                products: all.reduce(into: Set<Product>()) { $0.formUnion(Product.imported(by: $1)) },
                // A package can have its own target for the library.
                systemLibraries: all.reduce(into: Set<SystemLibrary>()) { $0.formUnion(SystemLibrary.imported(by: $1)) }
                    .filter { library in !targetNames.contains(library.module) })
        }
        .filter { !$0.products.isEmpty || !$0.systemLibraries.isEmpty }
        let after = Manifest.adding(
            needs, to: before, library: library, setsLanguageModes: setsLanguageModes,
            hasLocalizations: hasLocalizations, copies: copies, usesSwift5: usesSwift5)
        return Manifests(
            before: before, after: after, systemLibraries: needs.reduce(into: []) { $0.formUnion($1.systemLibraries) })
    }

    /// The names of the adapted dependencies.
    private var copies: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory + "/Dependencies")) ?? []
        return names.filter { name in
            FileManager.default.fileExists(atPath: "\(directory)/Dependencies/\(name)/Package.swift")
        }
        .sorted()
    }

    /// Whether the package has folders of localized resources.
    private var hasLocalizations: Bool {
        guard let names = FileManager.default.enumerator(atPath: directory) else { return false }
        return names.contains { ($0 as? String)?.hasSuffix(".lproj") ?? false }
    }

    /// The files that are compiled, and the paths of tests, which are not.
    private static func split(_ sources: [SourceText], in directory: String) -> ([SourceText], [String]) {
        let tests = sources.filter(Adaptation.isTest)
        let excluded = tests.map { String($0.path.dropFirst(directory.count + 1)) }
        return (sources.filter { source in !tests.contains { $0.path == source.path } }, excluded)
    }

    /// The directories below a path that contain Swift files, one level down.
    private static func folders(of files: [String], in path: String) -> [String] {
        var found: [String] = []
        for file in files {
            guard let folder = file.dropFirst(path.count + 1).split(separator: "/").dropLast().first else { continue }
            let name = path + "/" + folder
            if !found.contains(name) { found.append(name) }
        }
        return Array(found.prefix(3))
    }

    /// The package that a path is, or whose target it is in.
    private static func package(around path: String) throws -> (
        directory: String, description: PackageDescription, targets: [SourceTarget]
    )? {
        var directory = path
        while directory != "/" {
            if FileManager.default.fileExists(atPath: directory + "/Package.swift") {
                let description = try PackageDescription.load(directory)
                let sources = description.targets.filter { $0.type != "test" }
                let targets = description.targets.compactMap {
                    SourceTarget($0, in: directory, isOnlyTarget: sources.count == 1)
                }
                let isOwn =
                    directory == path
                    || targets.contains { $0.contains(path) || $0.roots.contains { isPath($0, in: path) } }
                return isOwn ? (directory, description, targets) : nil
            }
            // A manifest outside of the repository is another project's.
            if FileManager.default.fileExists(atPath: directory + "/.git") { return nil }
            directory = (directory as NSString).deletingLastPathComponent
        }
        return nil
    }
}

/// A manifest before and after.
struct Manifests {
    /// Nil if there was none.
    let before: String?
    let after: String
    /// The C libraries that need a folder with a module map.
    let systemLibraries: Set<SystemLibrary>

    /// The files that have to be written in the directory of a package.
    func changes(in directory: String) -> [Change] {
        let manifest = before == after ? [] : [Change(path: directory + "/Package.swift", before: before, after: after)]
        return manifest
            + systemLibraries.sorted().flatMap { library in
                [("module.modulemap", library.moduleMap), ("shim.h", library.shim)].compactMap { name, text in
                    let path = "\(directory)/Dependencies/\(library.module)/\(name)"
                    let before = try? String(contentsOfFile: path, encoding: .utf8)
                    return before == text ? nil : Change(path: path, before: before, after: text)
                }
            }
    }
}

/// The path without links, if it exists.
func existing(_ path: String) throws -> String {
    guard FileManager.default.fileExists(atPath: path) else {
        throw Obstacle.unreadable(path: path, reason: "it does not exist")
    }
    return standardized(URL(fileURLWithPath: standardized(path)).resolvingSymlinksInPath().path)
}

/// Reads a source file.
public func sourceText(_ path: String) throws -> SourceText {
    guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8) else {
        throw Obstacle.unreadable(path: path, reason: "it is not UTF-8 text")
    }
    return SourceText(path: path, text: text)
}
