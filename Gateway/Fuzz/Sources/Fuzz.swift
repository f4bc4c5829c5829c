import Foundation

/// The target, named on the command line: `fuzz --target=NAME CORPUS… -libfuzzer_flags`. It is looked up once.
private let target: FuzzTarget = {
    guard let name = argument("--target="), let target = FuzzTarget(rawValue: name) else {
        fatalError("no target: --target=\(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|"))")
    }
    return target
}()

/// Called by libFuzzer first. Seeds are written here, by a process that then exits.
@c(LLVMFuzzerInitialize) public func initialize(
    _ argc: UnsafeMutablePointer<CInt>, _ argv: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>>>
) -> CInt {
    if CommandLine.arguments.contains("--list") {
        for target in FuzzTarget.allCases { print(target.rawValue) }
        leave()
    }
    if let directory = argument("--seed-into=") {
        do {
            for target in FuzzTarget.allCases { try writeSeeds(of: target, into: "\(directory)/\(target.rawValue)") }
        } catch {
            fatalError("cannot write seeds: \(error)")
        }
        leave()
    }
    return 0
}

/// Called by libFuzzer with each input. A violation ends the process, like a trap, so that libFuzzer keeps the input.
@c(LLVMFuzzerTestOneInput) public func testOneInput(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    do {
        try target.run(Array(UnsafeBufferPointer(start: data, count: count)))
    } catch {
        fatalError("\(target.rawValue): \(error)")
    }
    return 0
}

private func writeSeeds(of target: FuzzTarget, into directory: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    for (number, seed) in target.seeds.enumerated() {
        try Data(seed).write(to: URL(fileURLWithPath: "\(directory)/seed\(number)"))
    }
}

/// Ends the process without the report libFuzzer makes of an early exit.
private func leave() -> Never {
    fflush(nil)
    _exit(0)
}

private func argument(_ prefix: String) -> String? {
    CommandLine.arguments.first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
}
