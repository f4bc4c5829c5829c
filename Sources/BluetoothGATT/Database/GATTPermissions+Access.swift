import BluetoothATT

/// The kind of access that a client requests to an attribute.
@nonexhaustive
public enum GATTAccess: Hashable, Sendable {
    case read
    case write
}

extension GATTPermissions {
    /// The error for a link that may not access an attribute; nil if it may.
    ///
    /// This is the only place that decides on access, for every request and every command. The errors follow Vol 3,
    /// Part C, 10.3.1, Table 10.2: a peer with a key must encrypt, one without must pair.
    @inline(__always)
    func refusal(of access: GATTAccess, on link: LinkSecurity) -> ATTErrorCode? {
        let requirement = access == .read ? read : write
        let needsAuthorization = access == .read ? readNeedsAuthorization : writeNeedsAuthorization
        if requirement == .open, !needsAuthorization { return nil }
        return refusal(of: access, requirement: requirement, needsAuthorization: needsAuthorization, on: link)
    }

    private func refusal(
        of access: GATTAccess, requirement: Requirement, needsAuthorization: Bool, on link: LinkSecurity
    ) -> ATTErrorCode? {
        switch requirement {
        case .notAllowed: return access == .read ? readError : writeError
        case .open: break
        case .encrypted, .authenticated, .authenticatedSecureConnections:
            guard link.isEncrypted else {
                return link.isBonded ? .insufficientEncryption : .insufficientAuthentication
            }
            if requirement >= .authenticated, !link.isAuthenticated { return .insufficientAuthentication }
            if requirement == .authenticatedSecureConnections, !link.usesSecureConnections {
                return .insufficientAuthentication
            }
            if link.encryptionKeySize < minimumEncryptionKeySize { return .encryptionKeySizeTooShort }
        }
        return needsAuthorization && !link.isAuthorized ? .insufficientAuthorization : nil
    }
}
