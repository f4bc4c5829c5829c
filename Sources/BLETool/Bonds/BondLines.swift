import BluetoothHost
import BluetoothSMP
import BluetoothCommandLine

/// The output about bonds. No key is in it.
enum BondLines {
    /// A line for each adapter, and one for each of its bonds, in columns.
    static func table(_ adapters: [(identity: DeviceIdentity, bonds: [Bond])]) -> [String] {
        adapters.flatMap { identity, bonds in
            // Whether it uses private addresses is up to the program that has the adapter.
            let privacy = identity.resolvingKey == 0 ? "no key" : "a key"
            return ["adapter \(identity.address), \(privacy) for private addresses, bonds: \(bonds.count)"]
                + columns(bonds.map(row))
        }
    }

    private static func row(_ bond: Bond) -> [String] {
        let strength = bond.strength
        let roles = [bond.centralKey.map { _ in "central" }, bond.peripheralKey.map { _ in "peripheral" }]
        return [
            "\(bond.address)", bond.identity == nil ? "no identity" : "identity",
            strength.model.name + (strength.isAuthenticated ? "" : ", unauthenticated"),
            strength.usesSecureConnections ? "LE Secure Connections" : "legacy pairing", "\(strength.keySize) octets",
            "as " + roles.compactMap(\.self).joined(separator: " or "),
        ]
    }

    private static func columns(_ rows: [[String]]) -> [String] {
        guard let count = rows.first?.count else { return [] }
        let widths = (0..<count).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            // The last column is not padded.
            "  "
                + zip(row, widths).dropLast().map { $0 + String(repeating: " ", count: $1 - $0.count) + "  " }.joined()
                + row[count - 1]
        }
    }
}
