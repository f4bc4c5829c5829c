import Foundation

/// A copy of the package. A file that has not changed is not written again, so that a second build has less to do.
struct PackageCopy {
    private let origin: URL
    private let copy: URL
    private let files = FileManager.default

    init(of origin: String, at copy: String) {
        self.origin = URL(filePath: origin, directoryHint: .isDirectory)
        self.copy = URL(filePath: copy, directoryHint: .isDirectory)
    }

    /// What is compiled is copied, the rest is linked to.
    private static let compiled = ["Sources", "Tests", "Fuzz"]

    /// Where the copy has what selects a mutant.
    private static let selector = "Sources/CMutants"

    func copyFiles() throws {
        try files.createDirectory(at: copy, withIntermediateDirectories: true)
        for name in try files.contentsOfDirectory(atPath: origin.path) where !name.hasPrefix(".") {
            if Self.compiled.contains(name) {
                try copyDirectory(name)
            } else if name != "Package.swift", name != "Package.resolved" {
                let link = copy.appending(path: name).path
                if (try? files.destinationOfSymbolicLink(atPath: link)) == nil {
                    try files.createSymbolicLink(atPath: link, withDestinationPath: origin.appending(path: name).path)
                }
            }
        }
    }

    private func copyDirectory(_ name: String) throws {
        let wanted = Set(try regularFiles(in: name, of: origin))
        if files.fileExists(atPath: copy.appending(path: name).path) {
            for path in try regularFiles(in: name, of: copy)
            where !wanted.contains(path) && !path.hasPrefix(Self.selector) {
                try files.removeItem(at: copy.appending(path: path))
            }
        }
        // Mutated files are written last: until then they would only be changed to and fro.
        for path in wanted where !path.hasSuffix(".swift") || !name.hasPrefix("Sources") {
            try replace(path, with: try Data(contentsOf: origin.appending(path: path)))
        }
    }

    private func regularFiles(in directory: String, of root: URL) throws -> [String] {
        try files.subpathsOfDirectory(atPath: root.appending(path: directory).path)
            .map { directory + "/" + $0 }
            .filter { path in
                var isDirectory: ObjCBool = false
                let exists = files.fileExists(atPath: root.appending(path: path).path, isDirectory: &isDirectory)
                return exists && !isDirectory.boolValue && !path.contains("/.")
            }
    }

    /// The Swift files of a target.
    func sources(of target: String) throws -> [String] {
        try regularFiles(in: "Sources/" + target, of: origin).filter { $0.hasSuffix(".swift") }
    }

    func read(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: origin.appending(path: path)), as: UTF8.self)
    }

    private var written = WrittenPaths()

    func write(_ text: String, to path: String) throws {
        written.paths.insert(path)
        try replace(path, with: Data(text.utf8))
    }

    /// Writes the files without mutants, the package's description, and what selects a mutant.
    func finish(mutating targets: Set<String>) throws {
        for path in try regularFiles(in: "Sources", of: origin)
        where path.hasSuffix(".swift") && !written.paths.contains(path) {
            try replace(path, with: try Data(contentsOf: origin.appending(path: path)))
        }
        let names = targets.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
        let addition = """

            // Only the tests of layers with mutants, and of those that stand on them, are run.
            let run = ["HCI", "L2CAP", "ATT", "GATT", "Host", "Adapter", "LE"].map { "Bluetooth\\($0)Tests" } + ["FixtureTests"]
            // Nothing else needs these.
            let unused = ["central", "peripheral", "kernel-agent", "bond-writer", "CoreBluetoothTesting"]
            let unneeded = unused + package.targets.filter { $0.type == .test && !run.contains($0.name) }.map(\\.name)
            package.targets.removeAll { unneeded.contains($0.name) }
            package.products.removeAll { unneeded.contains($0.name) }
            package.targets.append(.target(name: "CMutants", path: "Sources/CMutants"))
            for target in package.targets where [\(names)].contains(target.name) {
                target.dependencies.append("CMutants")
            }

            """
        try replace("Package.swift", with: Data((try read("Package.swift") + addition).utf8))
        try replace("Sources/CMutants/include/CMutants.h", with: Data(Self.header.utf8))
        try replace("Sources/CMutants/mutants.c", with: Data(Self.implementation.utf8))
    }

    private func replace(_ path: String, with data: Data) throws {
        let url = copy.appending(path: path)
        if let old = try? Data(contentsOf: url), old == data { return }
        try files.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
    }

    // In C, so that asking costs one load: a global of Swift's would be asked for whether it is initialised.
    private static let header = """
        extern int bluetooth_mutant_number;
        static inline int bluetooth_mutant(void) { return bluetooth_mutant_number; }

        """
    private static let implementation = """
        #include "CMutants.h"
        #include <stdlib.h>

        int bluetooth_mutant_number = 0;

        __attribute__((constructor)) static void select_mutant(void) {
            const char *number = getenv("BLUETOOTH_MUTANT");
            if (number != NULL) bluetooth_mutant_number = atoi(number);
        }

        """
}

/// Which files of the copy hold mutants.
private final class WrittenPaths {
    var paths: Set<String> = []
}
