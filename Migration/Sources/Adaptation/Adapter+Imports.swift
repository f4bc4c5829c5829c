import SwiftSyntax

extension Adapter {
    // MARK: Modules that names need

    /// Imports a module at the end of the adaptation, unless the file has an import that brings it.
    func need(_ module: String) { neededModules.insert(module) }

    /// Notes a name that is used without a base.
    func noteUse(of name: String) {
        guard !facts.declaredTypes.contains(name), let module = Modules.module(of: name) else { return }
        // Another package can declare Core Bluetooth's names itself, such as a mock. The compiler knows more.
        if Modules.isCoreBluetooth(name), !imports.allSatisfy(Modules.isOfSystem) { return }
        need(module)
    }

    /// The modules that a file needs, and does not import.
    private var missingModules: [String] {
        var missing = neededModules.subtracting(imports)
        // They export Foundation on Linux as well.
        if !imports.isDisjoint(with: ["Foundation", "CoreBluetooth", "XCTest", "CoreBluetoothTesting"])
            || missing.contains("CoreBluetooth")
        {
            missing.remove("Foundation")
        }
        if imports.contains("CoreBluetooth") || missing.contains("CoreBluetooth") { missing.remove("CoreFoundation") }
        return missing.sorted()
    }

    /// Puts the imports that are missing before the first one.
    func addImports() {
        let modules = missingModules
        guard !modules.isEmpty else { return }
        let start = file.tree.importPosition
        edits.replace(
            start..<start, with: modules.map(importText).joined() + (file.tree.hasImports ? "" : "\n"))
    }
}
