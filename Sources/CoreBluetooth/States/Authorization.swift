import Foundation
import HCITransport

/// Whether this process may take over an adapter.
enum Authorization {
    /// The override of a test, by transport.
    @Guarded static var simulated: [BluetoothTransport: CBManagerAuthorization] = [:]

    static func current(for transport: BluetoothTransport) -> CBManagerAuthorization {
        if let simulated = simulated[transport] { return simulated }
        // Only the kernel's adapters need a capability.
        guard case .named(let name) = transport.way, case .hciSocket? = try? TransportName(name) else {
            return .allowedAlways
        }
        return hasNetworkAdministration ? .allowedAlways : .denied
    }

    /// Whether CAP_NET_ADMIN is among the effective capabilities (capabilities(7)).
    private static var hasNetworkAdministration: Bool {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("CapEff:") }),
            let capabilities = UInt64(line.dropFirst("CapEff:".count).trimmingCharacters(in: .whitespaces), radix: 16)
        else { return true }
        return capabilities & 1 << 12 != 0
    }
}
