/// Which device shows a passkey and which one enters it.
enum PasskeyEntryRoles: Hashable, Sendable {
    case initiatorShows
    case responderShows
    /// Neither device shows it: the user enters the same number on both.
    case bothEnter
}

extension AssociationModel {
    /// Selects the model from the features of both devices (Core 5.4, Vol 3, Part H, 2.3.5.1, Tables 2.6 to 2.8).
    ///
    /// - Returns: The model and, for passkey entry, the roles.
    static func select(
        initiator: PairingFeatures, responder: PairingFeatures, usesSecureConnections: Bool
    ) -> (model: AssociationModel, entry: PasskeyEntryRoles) {
        let outOfBand = (initiator.hasOutOfBandData, responder.hasOutOfBandData)
        // In legacy pairing both devices must know the temporary key. In LE Secure Connections, data of one device is
        // enough.
        if usesSecureConnections ? outOfBand.0 || outOfBand.1 : outOfBand.0 && outOfBand.1 {
            return (.outOfBand, .bothEnter)
        }
        guard initiator.requirements.union(responder.requirements).contains(.mitmProtection) else {
            return (.justWorks, .bothEnter)
        }
        switch (initiator.ioCapability, responder.ioCapability) {
        case (.noInputNoOutput, _), (_, .noInputNoOutput),
            (.displayOnly, .displayOnly), (.displayOnly, .displayYesNo), (.displayYesNo, .displayOnly):
            return (.justWorks, .bothEnter)
        case (.displayYesNo, .displayYesNo):
            return (usesSecureConnections ? .numericComparison : .justWorks, .bothEnter)
        case (.displayYesNo, .keyboardDisplay), (.keyboardDisplay, .keyboardDisplay):
            return (usesSecureConnections ? .numericComparison : .passkeyEntry, .initiatorShows)
        case (.keyboardDisplay, .displayYesNo):
            return (usesSecureConnections ? .numericComparison : .passkeyEntry, .responderShows)
        case (.keyboardOnly, .keyboardOnly):
            return (.passkeyEntry, .bothEnter)
        case (.displayOnly, .keyboardOnly), (.displayOnly, .keyboardDisplay), (.displayYesNo, .keyboardOnly),
            (.keyboardDisplay, .keyboardOnly):
            return (.passkeyEntry, .initiatorShows)
        case (.keyboardOnly, .displayOnly), (.keyboardOnly, .displayYesNo), (.keyboardOnly, .keyboardDisplay),
            (.keyboardDisplay, .displayOnly):
            return (.passkeyEntry, .responderShows)
        }
    }
}
