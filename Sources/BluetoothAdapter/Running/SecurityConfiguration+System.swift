import BluetoothHost

#if Pairing
    import BluetoothCrypto
#endif

extension SecurityConfiguration {
    #if Pairing
        /// Pairing and encryption with the ciphers of swift-crypto and the system's random generator. It needs the package's
        /// trait `Pairing`, which is on by default.
        public static var system: SecurityConfiguration { SecurityConfiguration(crypto: SwiftCryptoToolbox()) }
    #endif

    /// What adapters begin with: `system`, or nil where this package is built without the trait `Pairing`.
    package static var preset: SecurityConfiguration? {
        #if Pairing
            .system
        #else
            nil
        #endif
    }
}
