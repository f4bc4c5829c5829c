import Foundation

/// The files in a directory that matter to `adapt`.
struct Files {
    var swift: [String] = []
    /// Sources in Objective-C and its relatives.
    var objectiveC: [String] = []
    /// Sources in C and its relatives.
    var c: [String] = []
    /// Symbolic links, with the paths that they lead to.
    var links: [(path: String, destination: String)] = []
    var xcodeProjects: [String] = []

    /// Directories that hold other people's sources, or what was built.
    private static let skipped: Set<String> = ["Pods", "Carthage", "DerivedData"]

    /// Collects the files in a directory, or the file at a path.
    ///
    /// - Parameter isIncluded: whether a file, or all of a directory, is looked at.
    init(at path: String, isIncluded: (String) -> Bool = { _ in true }) {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return }
        if isDirectory.boolValue { collect(path, isIncluded, isRoot: true) } else { add(path) }
    }

    private mutating func collect(_ directory: String, _ isIncluded: (String) -> Bool, isRoot: Bool) {
        let manager = FileManager.default
        // Nested packages are adapted separately.
        if !isRoot, manager.fileExists(atPath: directory + "/Package.swift") { return }
        for name in (try? manager.contentsOfDirectory(atPath: directory))?.sorted() ?? [] where !name.hasPrefix(".") {
            let path = directory == "/" ? "/" + name : directory + "/" + name
            if let destination = try? manager.destinationOfSymbolicLink(atPath: path) {
                let target = standardized(destination.hasPrefix("/") ? destination : directory + "/" + destination)
                if isIncluded(path) { links.append((path, target)) }
                continue
            }
            var isDirectory: ObjCBool = false
            _ = manager.fileExists(atPath: path, isDirectory: &isDirectory)
            if isDirectory.boolValue {
                if name.hasSuffix(".xcodeproj") || name.hasSuffix(".xcworkspace") {
                    xcodeProjects.append(path)
                } else if !Self.skipped.contains(name), isIncluded(path) {
                    collect(path, isIncluded, isRoot: false)
                }
            } else if isIncluded(path), name != "Package.swift", !name.hasPrefix("Package@swift") {
                add(path)
            }
        }
    }

    private mutating func add(_ path: String) {
        switch (path as NSString).pathExtension {
        case "swift": swift.append(path)
        case "m", "mm": objectiveC.append(path)
        case "c", "cc", "cpp", "cxx": c.append(path)
        default: break
        }
    }
}
