#if !BoringSSL
import BluetoothPlatform

/// The functions of the system's libcrypto that this module calls. They are looked up when the program runs, so that a
/// build needs neither the library nor its headers. All of them exist since OpenSSL 3.0, and none is deprecated.
///
/// Pointers to the library's objects are opaque. Functions that can fail return 1 for success, or null for failure.
struct OpenSSL: Sendable {
    typealias Octets = UnsafePointer<UInt8>
    typealias MutableOctets = UnsafeMutablePointer<UInt8>
    typealias Text = UnsafePointer<CChar>
    typealias Free = @Sendable @convention(c) (OpaquePointer?) -> Void

    /// `OPENSSL_init_crypto`.
    let initialize: @Sendable @convention(c) (UInt64, OpaquePointer?) -> CInt
    /// `EVP_CIPHER_fetch`: the cipher with a name.
    let fetchCipher: @Sendable @convention(c) (OpaquePointer?, Text, Text?) -> OpaquePointer?
    /// `EVP_CIPHER_free`.
    let freeCipher: Free
    /// `EVP_CIPHER_CTX_new`.
    let makeCipherContext: @Sendable @convention(c) () -> OpaquePointer?
    /// `EVP_CIPHER_CTX_free`, which also erases the key.
    let freeCipherContext: Free
    /// `EVP_EncryptInit_ex2`: sets the cipher, the key and the initialization vector.
    let beginEncryption:
        @Sendable @convention(c) (
            OpaquePointer, OpaquePointer, Octets, Octets?, OpaquePointer?
        ) -> CInt
    /// `EVP_EncryptUpdate`: output, its length, input, its length.
    let encryptOctets:
        @Sendable @convention(c) (
            OpaquePointer, MutableOctets, UnsafeMutablePointer<CInt>, Octets, CInt
        ) -> CInt
    /// `EVP_Q_mac`: computes a message authentication code in one call.
    let authenticate:
        @Sendable @convention(c) (
            _ context: OpaquePointer?, _ name: Text, _ properties: Text?,
            _ cipher: Text, _ parameters: OpaquePointer?, _ key: Octets, _ keyLength: Int,
            _ message: Octets?, _ messageLength: Int, _ code: MutableOctets, _ capacity: Int,
            _ codeLength: UnsafeMutablePointer<Int>
        ) -> MutableOctets?
    /// `EC_GROUP_new_by_curve_name`.
    let makeGroup: @Sendable @convention(c) (CInt) -> OpaquePointer?
    /// `EC_GROUP_free`.
    let freeGroup: Free
    /// `EC_GROUP_get0_order`: a number that belongs to the group.
    let order: @Sendable @convention(c) (OpaquePointer) -> OpaquePointer?
    /// `EC_POINT_new`.
    let makePoint: @Sendable @convention(c) (OpaquePointer) -> OpaquePointer?
    /// `EC_POINT_clear_free`.
    let freePoint: Free
    /// `EC_POINT_mul`: group, result, multiple of the generator, point, its multiple, scratch memory.
    let multiply:
        @Sendable @convention(c) (
            OpaquePointer, OpaquePointer, OpaquePointer?, OpaquePointer?, OpaquePointer?, OpaquePointer?
        ) -> CInt
    /// `EC_POINT_oct2point`. It rejects coordinates that are too large, and points that are not on the curve.
    let decodePoint:
        @Sendable @convention(c) (
            OpaquePointer, OpaquePointer, Octets, Int, OpaquePointer?
        ) -> CInt
    /// `EC_POINT_point2oct`: returns the number of octets; 0 for failure.
    let encodePoint:
        @Sendable @convention(c) (
            OpaquePointer, OpaquePointer, CInt, MutableOctets, Int, OpaquePointer?
        ) -> Int
    /// `BN_bin2bn`: a number from octets, most significant first.
    let makeNumber: @Sendable @convention(c) (Octets, CInt, OpaquePointer?) -> OpaquePointer?
    /// `BN_clear_free`.
    let freeNumber: Free
    /// `BN_set_flags`.
    let setFlags: @Sendable @convention(c) (OpaquePointer, CInt) -> Void
    /// `BN_is_zero`.
    let isZero: @Sendable @convention(c) (OpaquePointer) -> CInt
    /// `BN_cmp`: negative if the first number is the smaller one.
    let compare: @Sendable @convention(c) (OpaquePointer, OpaquePointer) -> CInt

    /// `OPENSSL_INIT_NO_ATEXIT`. By default, the library frees its state when the program calls `exit`, although other
    /// threads may still be encrypting.
    private static let keepsState: UInt64 = 0x0008_0000

    /// The library of this process; nil if it cannot be loaded.
    static let shared = OpenSSL()

    /// The library stays loaded: its functions are called until the process ends.
    private init?() {
        // Local, because the program or another library may use a different version.
        let names = ["libcrypto.so.3", "libcrypto.so.4"]
        guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first,
            let functions = try? OpenSSL(library),
            functions.initialize(Self.keepsState, nil) == 1, functions.isUsable
        else { return nil }
        self = functions
    }

    private init(_ library: UnsafeMutableRawPointer) throws(MissingFunction) {
        func function<Function>(_ name: String) throws(MissingFunction) -> Function {
            guard let address = dlsym(library, name) else { throw MissingFunction() }
            return unsafeBitCast(address, to: Function.self)
        }
        initialize = try function("OPENSSL_init_crypto")
        fetchCipher = try function("EVP_CIPHER_fetch")
        freeCipher = try function("EVP_CIPHER_free")
        makeCipherContext = try function("EVP_CIPHER_CTX_new")
        freeCipherContext = try function("EVP_CIPHER_CTX_free")
        beginEncryption = try function("EVP_EncryptInit_ex2")
        encryptOctets = try function("EVP_EncryptUpdate")
        authenticate = try function("EVP_Q_mac")
        makeGroup = try function("EC_GROUP_new_by_curve_name")
        freeGroup = try function("EC_GROUP_free")
        order = try function("EC_GROUP_get0_order")
        makePoint = try function("EC_POINT_new")
        freePoint = try function("EC_POINT_clear_free")
        multiply = try function("EC_POINT_mul")
        decodePoint = try function("EC_POINT_oct2point")
        encodePoint = try function("EC_POINT_point2oct")
        makeNumber = try function("BN_bin2bn")
        freeNumber = try function("BN_clear_free")
        setFlags = try function("BN_set_flags")
        isZero = try function("BN_is_zero")
        compare = try function("BN_cmp")
    }

    private struct MissingFunction: Error {}

    /// Whether the library offers the ciphers. Its configuration file can disable them.
    private var isUsable: Bool {
        let key = [UInt8](repeating: 0, count: 16)
        return cipherContext(key: key) != nil && authenticationCode(key: key, message: []) != nil
            && publicKey(of: [UInt8](repeating: 0, count: 31) + [1]) != nil
    }
}

/// An object of the library, freed with this value.
///
/// It is unchecked because it contains a pointer. Any thread may use the object, but only one at a time: code that
/// shares it must lock it.
struct OpenSSLObject: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer
    private let free: OpenSSL.Free

    /// Nil if the library has returned null.
    init?(_ pointer: OpaquePointer?, free: @escaping OpenSSL.Free) {
        guard let pointer else { return nil }
        self.pointer = pointer
        self.free = free
    }

    deinit { free(pointer) }
}
#endif
