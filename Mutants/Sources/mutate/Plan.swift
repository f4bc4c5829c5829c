/// What `mutate` is asked to make: read from standard input as JSON.
struct Plan: Decodable {
    /// A bug of the catalogue: `original`, which is in `file` once, reads `replacement`.
    struct Named: Decodable {
        var id: Int
        var name: String
        var file: String
        var original: String
        var replacement: String
    }

    /// The package whose sources are read.
    var package: String
    /// The directory that gets the mutated copy of it.
    var copy: String
    /// The targets that mechanical mutants are drawn from.
    var targets: [String]
    /// How many mechanical mutants are drawn.
    var count: Int
    /// What they are drawn with.
    var seed: UInt64
    var named: [Named]
    /// Keys of mutants that turned out not to compile.
    var excluded: [String]
}

/// What was made: written to standard output as JSON.
struct Manifest: Encodable {
    struct Entry: Encodable {
        /// What `BLUETOOTH_MUTANT` is set to for this mutant.
        var id: Int
        /// The same in each run, as long as the file is the same.
        var key: String
        /// The name of a bug of the catalogue; nil for a mechanical mutant.
        var name: String?
        var kind: String
        var file: String
        /// Where the change begins in the original file.
        var line: Int
        var original: String
        var replacement: String
        /// Its lines in the mutated file, the first and the last.
        var lines: [Int]
        /// The lines of all variants of the same body in the mutated file.
        var body: [Int]
    }

    var mutants: [Entry]
    /// How many places mechanical mutants were drawn from, by kind.
    var candidates: [String: Int]
}

/// One change of a source file.
struct Edit {
    enum Kind: String, CaseIterable {
        case named, comparison, condition, logic, count, arithmetic, call, assignment
        case earlyReturn = "early return"
    }

    var kind: Kind
    /// The bytes that are replaced.
    var range: Range<Int>
    var replacement: String
}
