#if !BoringSSL
import BluetoothPlatform

/// The functions of the system's libcrypto that this module calls. They are looked up when the program runs, so that a
/// build needs neither the library nor its headers. All of them exist since OpenSSL 3.0, and none is deprecated.
///
/// Pointers to the library's objects are opaque. Functions that can fail return 1 for success, or null for failure.
final class OpenSSL: Sendable {
    typealias Octets = UnsafePointer<UInt8>
    typealias MutableOctets = UnsafeMutablePointer<UInt8>
    typealias Text = UnsafePointer<CChar>
    typealias Free = @Sendable @convention(c) (OpaquePointer?) -> Void

    /// `OPENSSL_init_crypto`.
    private let initialize: @Sendable @convention(c) (UInt64, OpaquePointer?) -> CInt
    /// `OSSL_LIB_CTX_new`.
    let makeContext: @Sendable @convention(c) () -> OpaquePointer?
    /// `OSSL_LIB_CTX_free`.
    let freeContext: Free
    /// `ERR_set_mark`: marks the last error of this thread.
    private let markErrors: @Sendable @convention(c) () -> CInt
    /// `ERR_pop_to_mark`: removes the errors after the mark.
    private let popErrors: @Sendable @convention(c) () -> CInt
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
    /// `EC_GROUP_new_by_curve_name_ex`.
    let makeGroup: @Sendable @convention(c) (OpaquePointer?, Text?, CInt) -> OpaquePointer?
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

    /// The library's state for this module: the algorithms it has found. Unlike the default state, it is neither
    /// changed by the system's configuration file nor freed when the program calls `exit` while other threads are
    /// encrypting. Unlike other objects, it may be used by several threads at a time.
    let context: OpenSSLObject

    /// `OPENSSL_INIT_NO_ATEXIT`. By default, the library frees what all threads share when the program calls `exit`.
    /// The first user of the library in a process decides.
    private static let keepsState: UInt64 = 0x0008_0000

    /// The library of this process.
    static let shared = load(["libcrypto.so.3", "libcrypto.so.4"])

    /// The first library that can be used.
    private static func load(_ names: [String]) -> Result<OpenSSL, CryptoUnavailable> {
        var missing: CryptoUnavailable?, unusable: CryptoUnavailable?
        for name in names {
            do throws(CryptoUnavailable) {
                return .success(try OpenSSL(name))
            } catch {
                if case .notLoaded = error { missing = missing ?? error } else { unusable = unusable ?? error }
            }
        }
        return .failure(unusable ?? missing ?? .notLoaded(reason: "no name is known"))
    }

    /// Loads the library, and never unloads it: its functions are called until the process ends.
    private init(_ name: String) throws(CryptoUnavailable) {
        // Local, because the program or another library may use a different version.
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw .notLoaded(reason: dlerror().map { String(cString: $0) } ?? name)
        }
        func function<Function>(_ symbol: String) throws(CryptoUnavailable) -> Function {
            guard let address = dlsym(library, symbol) else { throw .functionMissing(name: symbol, library: name) }
            return unsafeBitCast(address, to: Function.self)
        }
        initialize = try function("OPENSSL_init_crypto")
        makeContext = try function("OSSL_LIB_CTX_new")
        freeContext = try function("OSSL_LIB_CTX_free")
        markErrors = try function("ERR_set_mark")
        popErrors = try function("ERR_pop_to_mark")
        fetchCipher = try function("EVP_CIPHER_fetch")
        freeCipher = try function("EVP_CIPHER_free")
        makeCipherContext = try function("EVP_CIPHER_CTX_new")
        freeCipherContext = try function("EVP_CIPHER_CTX_free")
        beginEncryption = try function("EVP_EncryptInit_ex2")
        encryptOctets = try function("EVP_EncryptUpdate")
        authenticate = try function("EVP_Q_mac")
        makeGroup = try function("EC_GROUP_new_by_curve_name_ex")
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
        guard initialize(Self.keepsState, nil) == 1,
            let context = OpenSSLObject(makeContext(), free: freeContext)
        else { throw .cipherRefused(library: name) }
        self.context = context
        guard isUsable else { throw .cipherRefused(library: name) }
    }

    /// Whether the library offers the ciphers.
    private var isUsable: Bool {
        let key = [UInt8](repeating: 0, count: 16)
        return cipherContext(key: key) != nil && authenticationCode(key: key, message: []) != nil
            && publicKey(of: [UInt8](repeating: 0, count: 31) + [1]) != nil
    }

    // MARK: Errors

    func setErrorMark() { _ = markErrors() }

    /// Removes the errors since the mark from those that the library keeps for this thread.
    func discardErrors() { _ = popErrors() }
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
