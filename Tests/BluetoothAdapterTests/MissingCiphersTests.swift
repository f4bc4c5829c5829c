import BluetoothCrypto
import BluetoothHost
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothAdapter

/// Reports of an adapter whose host cannot pair.
struct MissingCiphersTests {
    private static let reason = CryptoUnavailable.notLoaded(reason: "libcrypto.so.3: no such file")

    private final class Reports: Sendable {
        let texts = Mutex<[String]>([])
    }

    /// What an adapter reports when it is opened.
    private static func reports(_ configure: (inout AdapterOptions) -> Void) throws -> [String] {
        var options = AdapterOptions(seed: 1)
        configure(&options)
        let reports = Reports()
        options.reportMissingCiphers = { reason in reports.texts.withLock { $0.append("\(reason)") } }
        let runner = try AdapterRunner(VirtualRadio(time: .manual).addController(), options: options)
        defer { runner.close {} }
        return reports.texts.withLock { $0 }
    }

    @Test func `an adapter that lost its Security Manager reports why, once`() throws {
        let reports = try Self.reports { options in
            options.host.security = nil
            options.missingCiphers = Self.reason
        }
        #expect(reports == ["\(Self.reason)"])
    }

    @Test func `an adapter whose application provides the ciphers reports nothing`() throws {
        let reports = try Self.reports { options in
            options.host.security = SecurityConfiguration(crypto: LibraryToolbox())
            options.missingCiphers = Self.reason
        }
        #expect(reports.isEmpty)
    }

    @Test func `an adapter that was configured without a Security Manager reports nothing`() throws {
        let reports = try Self.reports { options in options = AdapterOptions(host: HostConfiguration(seed: 1)) }
        #expect(reports.isEmpty)
    }

    @Test(
        "each reason states what to install",
        arguments: [
            (reason, "libcrypto.so.3: no such file"),
            (.functionMissing(name: "EVP_Q_mac", library: "libcrypto.so.3"), "libcrypto.so.3 lacks EVP_Q_mac"),
            (.cipherRefused(library: "libcrypto.so.3"), "which libcrypto.so.3 refuses"),
        ])
    func descriptions(_ reason: CryptoUnavailable, _ text: String) {
        #expect("\(reason)".contains(text))
        #expect("\(reason)".contains("install"))
        #expect("\(reason)".contains("BoringSSL"))
    }
}
