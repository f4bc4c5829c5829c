import BluetoothSMP

public struct SwiftCryptoToolbox: CryptoToolbox {
    public init() {}
    public func encrypt(key: UInt128, block: UInt128) -> UInt128 { 0 }
    public func authenticationCode(key: UInt128, message: [UInt8]) -> UInt128 { 0 }
    public func keyPair(privateKey: FieldElement) -> P256KeyPair? { nil }
    public func sharedSecret(privateKey: FieldElement, peer: P256PublicKey) -> FieldElement? { nil }
}
