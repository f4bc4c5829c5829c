import BluetoothSMP

/// The ciphers of a cryptographic library, for the Security Manager.
///
/// The library is the system's OpenSSL 3, which is loaded when a cipher is first used. With the package trait
/// `BoringSSL`, it is the one in swift-crypto, which is compiled into the program. The ciphers trap if the library
/// cannot be loaded: see `unavailability`.
public struct LibraryToolbox: CryptoToolbox {
    /// Creates a toolbox, which holds no state.
    public init() {}
}

/// The error if a program has no ciphers.
public struct CryptoUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    /// States what is missing, and what to do about it.
    public var description: String {
        "encryption needs OpenSSL 3, but libcrypto.so.3 cannot be loaded: install it (Debian and Ubuntu: sudo apt "
            + "install libssl3), or build the program with the package trait BoringSSL"
    }
}
