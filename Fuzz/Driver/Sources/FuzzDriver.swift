import Glibc

/// The targets of a fuzzer: code that receives bytes, and what must hold for any bytes.
public protocol FuzzTargetProtocol: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// Runs one input.
    ///
    /// - Throws: if an invariant fails.
    func run(_ bytes: Span<UInt8>) throws

    /// Inputs to start from.
    ///
    /// - Parameter captures: captures of HCI packets in btsnoop's format.
    static func seeds(from captures: [[UInt8]]) -> [Self: [[UInt8]]]
}

/// Begins to fuzz: lists the targets or writes the seeds if the command line says so, and then ends the process.
/// Otherwise, the target that `--target=` names receives every input.
///
/// An executable calls this function from `LLVMFuzzerInitialize`, which libFuzzer calls before it reads its corpus.
public func beginFuzzing<Target: FuzzTargetProtocol>(_ targets: Target.Type) -> CInt {
    let target = FuzzDriver<Target>.begin()
    runInput = { FuzzDriver.run(target, $0) }
    return 0
}

/// What receives each input. libFuzzer runs all inputs on the thread that begins.
private nonisolated(unsafe) var runInput: (Span<UInt8>) -> Void = { _ in fatalError("LLVMFuzzerInitialize is missing") }

/// Called by libFuzzer with each input.
@c(LLVMFuzzerTestOneInput) public func testOneInput(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    runInput(Span(_unsafeElements: UnsafeBufferPointer(start: data, count: count)))
    return 0
}

/// The command line and the inputs of one fuzzer.
private enum FuzzDriver<Target: FuzzTargetProtocol> {
    /// The target on the command line. Does not return if the command line requests something else.
    static func begin() -> Target {
        if CommandLine.arguments.contains("--list") {
            for target in Target.allCases { print(target.rawValue) }
            leave()
        }
        if let directory = argument("--seed-into=") {
            writeSeeds(into: directory, from: CommandLine.arguments.filter { $0.hasSuffix(".btsnoop") })
            leave()
        }
        guard let target = argument("--target=").flatMap(Target.init) else {
            fatalError("no target: --target=\(Target.allCases.map(\.rawValue).joined(separator: "|"))")
        }
        return target
    }

    /// Runs one input. A violation ends the process, like a trap, so that libFuzzer keeps the input.
    static func run(_ target: Target, _ bytes: Span<UInt8>) {
        do {
            try target.run(bytes)
        } catch {
            fatalError("\(target.rawValue): \(error)")
        }
    }

    /// Ends the process without the report that libFuzzer makes of an early exit.
    private static func leave() -> Never {
        fflush(nil)
        _exit(0)
    }

    private static func argument(_ prefix: String) -> String? {
        CommandLine.arguments.first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    /// Writes the seeds into a directory for each target. They are named by their contents, so that equal ones are
    /// written once.
    private static func writeSeeds(into directory: String, from captures: [String]) {
        let captures = captures.map { capture in
            guard let file = contents(of: capture) else { fatalError("cannot read \(capture)") }
            return file
        }
        let seeds = Target.seeds(from: captures)
        for target in Target.allCases {
            mkdir("\(directory)/\(target.rawValue)", 0o755)
            for seed in seeds[target] ?? [] where !seed.isEmpty {
                write(seed, to: "\(directory)/\(target.rawValue)/\(name(of: seed))")
            }
        }
    }

    /// The FNV-1a hash.
    private static func name(of seed: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in seed { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func contents(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            guard count > 0 else { return bytes }
            bytes += piece[0..<count]
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "wb") else { fatalError("cannot write \(path)") }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }
}
