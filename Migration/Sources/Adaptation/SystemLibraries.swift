/// A C library that Apple's SDKs contain as a module. On Linux, a target with a module map stands for it.
public struct SystemLibrary: Hashable, Comparable, Sendable {
    /// The name of the module, as sources import it.
    public let module: String
    private let header: String
    private let library: String
    /// The package of Debian with the header.
    public let debianPackage: String

    private static let all = [
        SystemLibrary(module: "zlib", header: "zlib.h", library: "z", debianPackage: "zlib1g-dev"),
        SystemLibrary(module: "SQLite3", header: "sqlite3.h", library: "sqlite3", debianPackage: "libsqlite3-dev"),
        SystemLibrary(module: "libxml2", header: "libxml/tree.h", library: "xml2", debianPackage: "libxml2-dev"),
    ]

    /// The libraries that a source imports, on Linux.
    public static func imported(by source: SourceText) -> Set<SystemLibrary> {
        guard source.mentionsImport(of: all.map(\.module)) else { return [] }
        let modules = ImportedModules(ParsedFile(source)).modules
        return Set(all.filter { modules.contains($0.module) })
    }

    /// The contents of the file `module.modulemap`.
    public var moduleMap: String {
        "module \(module) [system] {\n    header \"shim.h\"\n    link \"\(library)\"\n    export *\n}\n"
    }

    /// The contents of the file `shim.h`, which the module map names.
    public var shim: String { "#include <\(header)>\n" }

    /// The lines of a manifest that add the library to targets.
    func lines(_ package: String, targets: [String]) -> [String] {
        [
            "\(package).targets.append(",
            "    .systemLibrary(",
            "        name: \"\(module)\", path: \"Dependencies/\(module)\", providers: [.apt([\"\(debianPackage)\"])]))",
            "for target in \(package).targets where \(targets).contains(target.name) {",
            "    target.dependencies.append(\"\(module)\")",
            "}",
        ]
    }

    /// Orders libraries by the names of their modules.
    public static func < (lhs: SystemLibrary, rhs: SystemLibrary) -> Bool { lhs.module < rhs.module }
}
