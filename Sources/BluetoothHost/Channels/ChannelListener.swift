import BluetoothGATT
import BluetoothL2CAP

/// A service that this host offers over credit-based channels.
public struct ChannelListener: Equatable, Sendable {
    /// This host's parameters for each channel.
    public var parameters: ChannelParameters
    /// The security that a link needs.
    public var requirement: ChannelRequirement

    /// Creates a listener. By default, it requires no security.
    public init(parameters: ChannelParameters = ChannelParameters(), requirement: ChannelRequirement = .none) {
        self.parameters = parameters
        self.requirement = requirement
    }

    /// The response to a peer that requests a channel over a link.
    func admission(on link: LinkSecurity) -> ChannelAdmission {
        requirement.refusal(on: link).map { .refused($0) } ?? .accepted(parameters)
    }
}

/// The security that a service requires of a link (Core 5.4, Vol 3, Part C, 10.3.1).
public struct ChannelRequirement: Equatable, Sendable {
    /// Whether the link must be encrypted. `isAuthenticated` and `minimumKeySize` imply encryption.
    public var isEncrypted: Bool
    /// Whether the key must be authenticated, which protects against man-in-the-middle attacks.
    public var isAuthenticated: Bool
    /// Whether the application must have authorized the peer.
    public var isAuthorized: Bool
    /// The minimum encryption key size, in octets.
    public var minimumKeySize: UInt8

    /// Creates a requirement; none by default. An authenticated key or a minimum key size also requires encryption.
    public init(
        isEncrypted: Bool = false, isAuthenticated: Bool = false, isAuthorized: Bool = false, minimumKeySize: UInt8 = 0
    ) {
        self.isEncrypted = isEncrypted || isAuthenticated || minimumKeySize > 0
        self.isAuthenticated = isAuthenticated
        self.isAuthorized = isAuthorized
        self.minimumKeySize = minimumKeySize
    }

    /// No requirement.
    public static let none = ChannelRequirement()
    /// The link must be encrypted.
    public static let encrypted = ChannelRequirement(isEncrypted: true)
    /// The link must be encrypted with an authenticated key.
    public static let authenticated = ChannelRequirement(isAuthenticated: true)

    /// The reason why a link does not meet the requirement; nil if it does.
    func refusal(on link: LinkSecurity) -> CreditBasedConnectionResult? {
        if isEncrypted, !link.isEncrypted {
            // If both devices have a key, encryption is sufficient. Otherwise they must pair first (10.3.1, Table
            // 10.2).
            return link.isBonded ? .insufficientEncryption : .insufficientAuthentication
        }
        if isAuthenticated, !link.isAuthenticated { return .insufficientAuthentication }
        if link.encryptionKeySize < minimumKeySize { return .encryptionKeySizeTooShort }
        return isAuthorized && !link.isAuthorized ? .insufficientAuthorization : nil
    }
}

/// The properties of an open channel.
public struct ChannelInformation: Equatable, Sendable {
    /// The SPSM of the service.
    public var psm: UInt16
    /// This host's parameters.
    public var local: ChannelParameters
    /// The peer's MTU: the longest SDU that it accepts, in octets.
    public var peerMTU: UInt16
    /// The peer's MPS: the longest K-frame payload that it accepts, in octets.
    public var peerMPS: UInt16
    /// The mode of the channel.
    public var kind: CreditBasedChannel.Kind

    /// The maximum number of SDUs that wait for the reader, as a bound for a user's queue. The peer's credits enforce
    /// it.
    public var greatestWaitingCount: Int { local.greatestWaitingCount(longestMPS: Host.greatestMPS) }

    init(_ channel: CreditBasedChannel) {
        psm = channel.spsm
        local = channel.local
        peerMTU = channel.peerMTU
        peerMPS = channel.peerMPS
        kind = channel.kind
    }
}
