import BluetoothCrypto
import BluetoothHost

extension SecurityConfiguration {
    /// Pairing and encryption with the ciphers of swift-crypto and the system's random generator.
    public static var system: SecurityConfiguration { SecurityConfiguration(crypto: SwiftCryptoToolbox()) }
}
