import Adaptation
import Foundation

/// The result of compiling a package.
public enum CheckResult {
    case compiles
    /// The errors in the package's own sources, and in those of its dependencies.
    case fails(own: [Diagnostic], inDependencies: [Diagnostic])
}

/// Compiles packages.
public struct Check {
    /// The directory with the manifest.
    public let directory: String
    /// Where build products go; nil for the package's own folder.
    public let scratchPath: String?
    /// The targets to compile; empty for all that are not tests.
    public let targets: [String]

    /// Creates a check of a package.
    public init(directory: String, scratchPath: String?, targets: [String]) {
        (self.directory, self.scratchPath, self.targets) = (directory, scratchPath.map(standardized), targets)
    }

    private var options: [String] {
        ["--package-path", directory] + (scratchPath.map { ["--scratch-path", $0] } ?? [])
    }

    private var buildPath: String { scratchPath ?? directory + "/.build" }

    /// Compiles everything but tests, or the targets.
    ///
    /// - Throws: `Obstacle.unavailable` if the build failed for another reason than the sources.
    public func run() throws -> CheckResult {
        for target in targets.isEmpty ? [nil] : targets.map(Optional.some) {
            let result = try build(target)
            guard case .compiles = result else { return result }
        }
        return .compiles
    }

    private func build(_ target: String?) throws -> CheckResult {
        let result = try Projects.run(
            // Another package's plan may be in the build folder.
            ["swift", "build"] + options
                + ["--disable-build-manifest-caching", "-Xswiftc", "-continue-building-after-errors"]
                + (target.map { ["--target", $0] } ?? []))
        guard result.status != 0 else { return .compiles }
        let errors = Diagnostic.errors(in: result.output)
        guard !errors.isEmpty else {
            throw Obstacle.unavailable(
                reason: "The check failed before it compiled the sources:\n" + Self.reasons(result.output))
        }
        let checkouts = buildPath + "/checkouts"
        let own = errors.filter { isPath($0.file, in: directory) && !isPath($0.file, in: checkouts) }
        return .fails(own: own, inDependencies: errors.filter { !own.contains($0) })
    }

    /// The errors in the output of the package manager, or its last lines.
    private static func reasons(_ output: String) -> String {
        let lines = output.split(separator: "\n")
        let errors = lines.filter { $0.contains("error:") }
        return (errors.isEmpty ? lines.suffix(10) : errors.prefix(10)).joined(separator: "\n")
    }

    /// Fetches the dependencies, and returns those that import Core Bluetooth: they need the product of that name.
    func dependenciesWithBluetooth(but library: String) throws -> [(name: String, directory: String)] {
        let result = try Projects.run(["swift", "package"] + options + ["resolve"])
        guard result.status == 0 else {
            throw Obstacle.unavailable(reason: "The dependencies cannot be fetched:\n" + Self.reasons(result.output))
        }
        let checkouts = buildPath + "/checkouts"
        let resolved = try used()
        return resolved.filter { $0 != library }.sorted().compactMap { name in
            let directory = checkouts + "/" + name
            // Evaluating a manifest takes long.
            guard
                Files(at: directory).swift.contains(where: {
                    (try? sourceText($0))?.text.contains("import CoreBluetooth") ?? false
                })
            else { return nil }
            guard let project = try? Project(at: directory) else { return nil }
            let isUser = project.targets.contains { target in
                !target.isTest
                    && project.files.contains { file in
                        target.contains(file)
                            && (try? sourceText(file)).map { Product.imported(by: $0).contains(.coreBluetooth) }
                                ?? false
                    }
            }
            return isUser ? (name, directory) : nil
        }
    }

    /// The names of the checkouts that the package uses. A build folder can have more.
    private func used() throws -> Set<String> {
        struct State: Decodable {
            struct Object: Decodable {
                let dependencies: [Dependency]
            }
            struct Dependency: Decodable {
                let subpath: String
                let state: Kind
            }
            struct Kind: Decodable {
                let name: String
            }
            let object: Object
        }
        guard let data = FileManager.default.contents(atPath: buildPath + "/workspace-state.json"),
            let state = try? JSONDecoder().decode(State.self, from: data)
        else { return [] }
        return Set(state.object.dependencies.filter { $0.state.name == "sourceControlCheckout" }.map(\.subpath))
    }

    /// The directory of the dependency that a file belongs to, and its name.
    public func dependency(of file: String) -> (name: String, directory: String)? {
        let checkouts = buildPath + "/checkouts/"
        guard file.hasPrefix(checkouts), let name = file.dropFirst(checkouts.count).split(separator: "/").first else {
            return nil
        }
        return (String(name), checkouts + name)
    }
}
