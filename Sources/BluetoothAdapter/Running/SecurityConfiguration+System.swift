import BluetoothHost

#if Pairing
import BluetoothCrypto
#endif

extension SecurityConfiguration {
    #if Pairing
    /// Pairing and encryption with the ciphers of `LibraryToolbox` and the system's random number generator. Requires
    /// the package trait `Pairing`, which is enabled by default. The ciphers trap if `LibraryToolbox` cannot be used.
    public static var system: SecurityConfiguration { SecurityConfiguration(crypto: LibraryToolbox()) }
    #endif

    /// The default of adapters: `system`, or nil if the package is built without the trait `Pairing`, or if its ciphers
    /// cannot be used.
    package static var preset: SecurityConfiguration? {
        #if Pairing
        LibraryToolbox.unavailability == nil ? .system : nil
        #else
        nil
        #endif
    }

    /// The reason why `preset` is nil although the package is built with the trait `Pairing`; nil if the ciphers
    /// can be used, or without the trait.
    package static var unavailability: (any Error)? {
        #if Pairing
        LibraryToolbox.unavailability
        #else
        nil
        #endif
    }
}
