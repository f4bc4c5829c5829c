import ArgumentParser
import Foundation

/// Writes a copy of the package with every mutant in it, each to be selected when it runs.
@main
struct Mutate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes a copy of the package with mutants in it; Scripts/mutants calls this.",
        discussion: "Reads a plan as JSON from standard input, and writes what it made as JSON to standard output.")

    func run() throws {
        let plan = try JSONDecoder().decode(Plan.self, from: FileHandle.standardInput.readToEnd() ?? Data())
        let copy = PackageCopy(of: plan.package, at: plan.copy)
        try copy.copyFiles()

        let mechanical = try plan.targets.flatMap(copy.sources(of:))
        var files: [String: SourceFile] = [:]
        for path in Set(mechanical + plan.named.map(\.file)) {
            files[path] = SourceFile(path: path, text: try copy.read(path))
        }

        var chosen: [String: [Mutant]] = [:]
        for bug in plan.named {
            guard let file = files[bug.file] else { continue }
            chosen[bug.file, default: []].append(try file.mutant(of: bug))
        }
        let candidates = mechanical.sorted().flatMap { path in
            (files[path]?.edits ?? []).map { (path: path, edit: $0) }
        }
        var generator = SplitMix(state: plan.seed)
        let excluded = Set(plan.excluded)
        let drawn = candidates.shuffled(using: &generator)
            .filter { candidate in files[candidate.path].map { !excluded.contains($0.key(of: candidate.edit)) } ?? false
            }
            .prefix(plan.count)
        for (index, candidate) in drawn.enumerated() {
            chosen[candidate.path, default: []].append(Mutant(id: 1001 + index, name: nil, edit: candidate.edit))
        }

        var manifest = Manifest(mutants: [], candidates: [:])
        for (_, edit) in candidates { manifest.candidates[edit.kind.rawValue, default: 0] += 1 }
        for (path, file) in files.sorted(by: { $0.key < $1.key }) {
            guard let mutants = chosen[path] else { continue }
            let (text, entries) = file.mutated(with: mutants)
            try copy.write(text, to: path)
            manifest.mutants += entries
        }
        try copy.finish(mutating: Set(chosen.keys.map { String($0.split(separator: "/")[1]) }))
        manifest.mutants.sort { $0.id < $1.id }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        FileHandle.standardOutput.write(try encoder.encode(manifest))
    }
}

extension SourceFile {
    /// The mutant of a bug of the catalogue.
    func mutant(of bug: Plan.Named) throws -> Mutant {
        let text = Data(text)
        guard let found = text.range(of: Data(bug.original.utf8)),
            text[found.upperBound...].range(of: Data(bug.original.utf8)) == nil
        else { throw ValidationError("\(bug.name): its original text is not in \(bug.file) exactly once") }
        // Only what differs has to be in one body, not all the text that makes the place unique.
        let (old, new) = (Array(bug.original.utf8), Array(bug.replacement.utf8))
        let shorter = min(old.count, new.count)
        let start = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
        let end = (0..<shorter - start).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? shorter - start
        let edit = Edit(
            kind: .named, range: found.lowerBound + start..<found.upperBound - end,
            replacement: String(decoding: new[start..<new.count - end], as: UTF8.self))
        guard bodies.contains(where: { $0.range.contains(edit.range) })
        else { throw ValidationError("\(bug.name): its original text is not within the body of one function") }
        return Mutant(id: bug.id, name: bug.name, edit: edit)
    }
}

/// A generator that gives the same numbers on any machine: SplitMix64.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
