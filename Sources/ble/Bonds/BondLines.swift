import BluetoothHost
import BluetoothSMP
import BluetoothCommandLine

/// The output about bonds. It contains no keys.
enum BondLines {
    /// A line for each adapter, and one for each of its bonds, in columns.
    static func table(_ adapters: [(identity: DeviceIdentity, bonds: [Bond])]) -> [String] {
        adapters.flatMap { identity, bonds in
            // The program that uses the adapter decides whether it uses private addresses.
            let privacy = identity.resolvingKey == 0 ? "no key" : "a key"
            return ["adapter \(identity.address), \(privacy) for private addresses, bonds: \(bonds.count)"]
                + columns(bonds.map(row))
        }
    }

    /// A line with a JSON object for each bond.
    static func objects(_ adapters: [(identity: DeviceIdentity, bonds: [Bond])]) -> [String] {
        adapters.flatMap { identity, bonds in
            bonds.map { bond in
                let strength = bond.strength
                var object = JSONObject()
                object.add("adapter", "\(identity.address)")
                object.add("address", "\(bond.address)")
                object.add("identity", explicit: bond.identity != nil)
                object.add("model", strength.model.name)
                object.add("authenticated", explicit: strength.isAuthenticated)
                object.add("secureConnections", explicit: strength.usesSecureConnections)
                object.add("keySize", strength.keySize)
                object.add("roles", roles(of: bond))
                return object.text
            }
        }
    }

    /// The roles in which this device has a key.
    private static func roles(of bond: Bond) -> [String] {
        [bond.centralKey.map { _ in "central" }, bond.peripheralKey.map { _ in "peripheral" }].compactMap(\.self)
    }

    private static func row(_ bond: Bond) -> [String] {
        let strength = bond.strength
        return [
            "\(bond.address)", bond.identity == nil ? "no identity" : "identity",
            strength.model.name + (strength.isAuthenticated ? "" : ", unauthenticated"),
            strength.usesSecureConnections ? "LE Secure Connections" : "legacy pairing", "\(strength.keySize) octets",
            "as " + roles(of: bond).joined(separator: " or "),
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
