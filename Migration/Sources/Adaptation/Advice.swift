/// What to do about errors of the compiler that `adapt` cannot repair.
public enum Advice {
    /// Advice for an error; nil if its text says enough.
    public static func text(for message: String) -> String? {
        for (pattern, advice) in table where message.contains(pattern) { return advice }
        if let match = message.firstMatch(of: /^cannot find (?:type )?'(\w+)' in scope/) {
            return names[String(match.1)]
                ?? "declare it, or import a module of Linux that has it; if it belongs to Apple's platforms, put the use "
                + "behind #if canImport(ObjectiveC)."
        }
        return nil
    }

    private static let names = [
        "Selector": "pass a closure.", "NSException": "throw a Swift error.",
        "mach_absolute_time": "use DispatchTime.now().uptimeNanoseconds.",
        "NSPointerArray": "use NSHashTable.weakObjects().",
    ]

    private static let table: [(String, String)] = [
        ("no such module", "Linux has no such module: replace what the file uses of it, or leave the file out."),
        ("'#selector' can only be used", "pass a closure."),
        ("'#keyPath' can only be used", "use a key path, or write the key as a string."),
        (
            "Objective-C interoperability is disabled",
            "remove the attribute, or put it behind #if canImport(ObjectiveC)."
        ),
        (
            "is unavailable: Not supported in swift-corelibs-foundation",
            "Foundation on Linux lacks it: write the code yourself."
        ),
        ("cannot be overridden", "move the method from the extension into its class."),
        ("declarations in extensions cannot override", "move the method from the extension into its class."),
        ("must be unwrapped", "newer SDKs made this value optional: unwrap it."),
        ("has no member 'observe'", "use a closure, or @Published."),
        ("cannot find 'observe'", "use a closure, or @Published."),
        ("not available due to missing import", "import the module that the error names."),
        ("not concurrency-safe", "build the target in Swift 5 mode, or declare the isolation."),
        ("to be sent", "build the target in Swift 5 mode, or declare the isolation."),
    ]
}
