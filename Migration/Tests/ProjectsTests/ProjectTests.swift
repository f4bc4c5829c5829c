import Adaptation
import Foundation
import Testing

@testable import Projects

@Suite("Packages and folders")
struct ProjectTests {
    /// A directory with files, for the time of a closure.
    private static func withFiles(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let directory = standardized(NSTemporaryDirectory() + "/adapt-tests-" + UUID().uuidString)
        let manager = FileManager.default
        defer { try? manager.removeItem(atPath: directory) }
        for (name, text) in files {
            let path = directory + "/" + name
            try manager.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            if text.hasPrefix("-> ") {
                try manager.createSymbolicLink(atPath: path, withDestinationPath: String(text.dropFirst(3)))
            } else {
                try text.write(toFile: path, atomically: true, encoding: .utf8)
            }
        }
        try body(directory)
    }

    private static let package =
        "// swift-tools-version:5.5\nimport PackageDescription\nlet package = Package(name: \"P\", targets: ["

    private static let obstacles: [(files: [String: String], status: Int32)] = [
        (["A.m": ""], 3),
        (["A.m": "", "B.swift": ""], 4),
        (["B.swift": "", "c/C.cpp": ""], 4),
        (["App.xcodeproj/project.pbxproj": "", "App/A.swift": ""], 5),
        (["A.swift": "-> /etc/hostname"], 6),
        (["README": ""], 66),
        (["Package.swift": package + ".target(name: \"A\")])", "Sources/A/A.swift": "", "Sources/A/B.mm": ""], 4),
        (["Package.swift": package + "]", "Sources/A/A.swift": ""], 8),
    ]

    @Test(arguments: obstacles)
    func `Projects that cannot be adapted end with a separate status`(files: [String: String], status: Int32) throws {
        try Self.withFiles(files) { directory in
            let obstacle = #expect(throws: Obstacle.self) { try Project(at: directory) }
            #expect(obstacle?.status == status)
        }
    }

    @Test
    func `Uncommitted changes are an obstacle`() throws {
        try Self.withFiles(["A.swift": "let a = 1\n"]) { directory in
            let project = try Project(at: directory)
            // Without git nothing is known.
            try project.requireCommitted()
            _ = try run(["git", "init", "-q", directory])
            let obstacle = #expect(throws: Obstacle.self) { try project.requireCommitted() }
            #expect(obstacle?.status == 2)
            _ = try run(["git", "-C", directory, "add", "."])
            _ = try run(["git", "-C", directory, "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "c"])
            try project.requireCommitted()
        }
    }

    @Test
    func `A package's targets determine what is adapted`() throws {
        let files = [
            "Package.swift": Self.package + ".target(name: \"A\", exclude: [\"Old\"]), .testTarget(name: \"T\")])",
            "Sources/A/A.swift": "import CoreBluetooth\n", "Sources/A/Old/B.swift": "", "Example/C.swift": "",
            "Example/D.m": "", "Tests/T/T.swift": "",
        ]
        try Self.withFiles(files) { directory in
            let project = try Project(at: directory)
            #expect(project.files == ["\(directory)/Sources/A/A.swift", "\(directory)/Tests/T/T.swift"])
            let run = AdaptationRun(project: project, library: .path("/l/swift-bluetooth-le"), scratchPath: nil)
            let changes = try run.changes()
            #expect(changes.map(\.path) == [directory + "/Package.swift"])
            #expect(changes[0].after.contains("where [\"A\"]"))
        }
    }

    @Test
    func `Packages within a package are adapted with it`() throws {
        let files = [
            "Package.swift": "// swift-tools-version:5.5\nimport PackageDescription\nlet package = Package("
                + "name: \"P\", dependencies: [.package(path: \"Packages/Q\")], targets: [.target(name: \"A\")])",
            "Sources/A/A.swift": "", "Packages/Q/Package.swift": Self.package + ".target(name: \"Q\")])",
            "Packages/Q/Sources/Q/Q.swift": "import CoreBluetooth\n",
        ]
        try Self.withFiles(files) { directory in
            let run = AdaptationRun(
                project: try Project(at: directory), library: .path("/l/swift-bluetooth-le"), scratchPath: nil)
            #expect(try run.changes().map(\.path) == [directory + "/Packages/Q/Package.swift"])
        }
    }

    @Test
    func `A folder gets a manifest, and links within it are kept`() throws {
        let files = ["A.swift": "import CoreBluetooth\n@objc class A: NSObject {}\n", "B.swift": "-> A.swift"]
        try Self.withFiles(files) { directory in
            let project = try Project(at: directory)
            #expect(project.links == [directory + "/B.swift"])
            let run = AdaptationRun(project: project, library: .path("/l/swift-bluetooth-le"), scratchPath: nil)
            let changes = try run.changes()
            #expect(changes.map(\.path) == [directory + "/A.swift", directory + "/Package.swift"])
            #expect(changes[1].before == nil)
            #expect(changes[1].patch.hasPrefix("--- /dev/null\n"))
            for change in changes { try change.write() }
            let again = AdaptationRun(
                project: try Project(at: directory), library: .path("/l/swift-bluetooth-le"), scratchPath: nil)
            #expect(try again.changes().isEmpty)
        }
    }

    @Test
    func `A C library of Apple's SDKs gets a module map`() throws {
        try Self.withFiles(["A.swift": "import zlib\n"]) { directory in
            let run = AdaptationRun(
                project: try Project(at: directory), library: .path("/l/swift-bluetooth-le"), scratchPath: nil)
            let changes = try run.changes()
            #expect(changes.map(\.path).contains(directory + "/Dependencies/zlib/module.modulemap"))
            #expect(changes[0].after.contains(".systemLibrary("))
        }
    }
}
