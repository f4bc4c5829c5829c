import BluetoothGATT
import BluetoothL2CAP

/// A service that this host offers over credit-based channels.
public struct ChannelListener: Equatable, Sendable {
    /// What this host takes on each channel.
    public var parameters: ChannelParameters
    /// How well a link has to be protected.
    public var requirement: ChannelRequirement

    public init(parameters: ChannelParameters = ChannelParameters(), requirement: ChannelRequirement = .none) {
        self.parameters = parameters
        self.requirement = requirement
    }

    /// What to say to a peer that asks for it over a link.
    func admission(on link: LinkSecurity) -> ChannelAdmission {
        requirement.refusal(on: link).map { .refused($0) } ?? .accepted(parameters)
    }
}

/// What a service demands of a link (Core 5.4, Vol 3, Part C, 10.3.1).
public struct ChannelRequirement: Equatable, Sendable {
    /// Whether the link has to be encrypted. The other requirements include that.
    public var isEncrypted: Bool
    /// Whether the key has to be protected against machines in the middle.
    public var isAuthenticated: Bool
    /// Whether the application has to have authorized the peer.
    public var isAuthorized: Bool
    /// The shortest key, in octets.
    public var minimumKeySize: UInt8

    public init(
        isEncrypted: Bool = false, isAuthenticated: Bool = false, isAuthorized: Bool = false, minimumKeySize: UInt8 = 0
    ) {
        self.isEncrypted = isEncrypted || isAuthenticated || minimumKeySize > 0
        self.isAuthenticated = isAuthenticated
        self.isAuthorized = isAuthorized
        self.minimumKeySize = minimumKeySize
    }

    /// Nothing is demanded.
    public static let none = ChannelRequirement()
    /// The link has to be encrypted.
    public static let encrypted = ChannelRequirement(isEncrypted: true)
    /// The link has to be encrypted with an authenticated key.
    public static let authenticated = ChannelRequirement(isAuthenticated: true)

    /// Why a link is not good enough; nil if it is.
    func refusal(on link: LinkSecurity) -> CreditBasedConnectionResult? {
        if isEncrypted, !link.isEncrypted {
            // With a key that both have, encryption will do. Without one, pairing comes first (10.3.1, Table 10.2).
            return link.isBonded ? .insufficientEncryption : .insufficientAuthentication
        }
        if isAuthenticated, !link.isAuthenticated { return .insufficientAuthentication }
        if link.encryptionKeySize < minimumKeySize { return .encryptionKeySizeTooShort }
        return isAuthorized && !link.isAuthorized ? .insufficientAuthorization : nil
    }
}

/// What a host tells of an open channel.
public struct ChannelInformation: Equatable, Sendable {
    /// The service it leads to.
    public var psm: UInt16
    /// What this host takes.
    public var local: ChannelParameters
    /// The longest SDU the peer takes, in octets.
    public var peerMTU: UInt16
    /// The longest payload of a K-frame the peer takes, in octets.
    public var peerMPS: UInt16
    /// Which mode it has.
    public var kind: CreditBasedChannel.Kind

    /// How many SDUs wait for the reader at most: the bound of a user's queue. The peer's credits keep it.
    public var greatestWaitingCount: Int { local.greatestWaitingCount(longestMPS: Host.greatestMPS) }

    init(_ channel: CreditBasedChannel) {
        psm = channel.spsm
        local = channel.local
        peerMTU = channel.peerMTU
        peerMPS = channel.peerMPS
        kind = channel.kind
    }
}
