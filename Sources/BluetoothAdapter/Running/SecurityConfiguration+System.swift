import BluetoothHost

#if Pairing
import BluetoothCrypto
#endif

extension SecurityConfiguration {
    #if Pairing
    /// Pairing and encryption with the ciphers of swift-crypto and the system's random number generator. Requires
    /// the package trait `Pairing`, which is enabled by default.
    public static var system: SecurityConfiguration { SecurityConfiguration(crypto: SwiftCryptoToolbox()) }
    #endif

    /// The default of adapters: `system`, or nil if the package is built without the trait `Pairing`.
    package static var preset: SecurityConfiguration? {
        #if Pairing
        .system
        #else
        nil
        #endif
    }
}
