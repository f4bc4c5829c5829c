import BluetoothSMP

/// The ciphers of a cryptographic library, for the Security Manager.
///
/// The library is the system's OpenSSL 3, which is loaded when it is first needed: by a cipher, or by `unavailability`,
/// which adapters read when they are opened. With the package trait `BoringSSL`, it is the one in swift-crypto, which
/// is compiled into the program. The ciphers end the program if the library cannot be loaded.
public struct LibraryToolbox: CryptoToolbox {
    /// Creates a toolbox, which holds no state.
    public init() {}
}

/// The reason why a program has no ciphers.
public enum CryptoUnavailable: Error, Hashable, Sendable {
    /// The library cannot be loaded, for the reason that the dynamic linker states.
    case notLoaded(reason: String)
    /// The library lacks a function that exists since OpenSSL 3.0.
    case functionMissing(name: String, library: String)
    /// The library refuses AES-128, AES-CMAC or P-256.
    case cipherRefused(library: String)
}

extension CryptoUnavailable: CustomStringConvertible {
    /// States what is missing, and what to do about it.
    public var description: String {
        let alternative = "or build the program with the package trait BoringSSL"
        return switch self {
        case .notLoaded(let reason):
            "encryption needs OpenSSL 3, which cannot be loaded (\(reason)): install it (Debian and Ubuntu: sudo apt "
                + "install libssl3), \(alternative)"
        case .functionMissing(let name, let library):
            "encryption needs OpenSSL 3, but \(library) lacks \(name): install a complete one, \(alternative)"
        case .cipherRefused(let library):
            "encryption needs AES-128 and P-256, which \(library) refuses: install one that offers them, \(alternative)"
        }
    }
}
