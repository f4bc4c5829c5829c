import BluetoothBase

/// The transition table of the negotiation.
extension BearerNegotiation {
    enum PhaseName: String, CaseIterable {
        case unused, idle, starting, readingServerFeatures, readingClientFeatures, writingClientFeatures, requesting
        case opening, waiting, done
    }

    enum EventName: String, CaseIterable {
        case clientUsed, encrypted, decrypted, operationBegan, operationRefused, operationEnded, channelRequested
        case requestRefused, peerAsked, channelOpened, channelRefused, timePassed
    }

    static let transitions: [Transition<Self>] = [
        Transition(.unused, .clientUsed, .idle), Transition(.unused, .clientUsed, .starting),
        Transition(.idle, .encrypted, .starting),
        Transition(.starting, .operationBegan, .readingServerFeatures),
        Transition(.starting, .operationBegan, .readingClientFeatures),
        Transition(.starting, .operationBegan, .writingClientFeatures),
        Transition(.starting, .operationRefused, .done),
        Transition(.readingServerFeatures, .operationEnded, .starting),
        Transition(.readingServerFeatures, .operationEnded, .done),
        Transition(.readingClientFeatures, .operationEnded, .starting),
        Transition(.readingClientFeatures, .operationEnded, .requesting),
        Transition(.readingClientFeatures, .operationEnded, .done),
        Transition(.writingClientFeatures, .operationEnded, .requesting),
        Transition(.writingClientFeatures, .operationEnded, .done),
        Transition(.requesting, .channelRequested, .opening), Transition(.requesting, .requestRefused, .done),
        Transition(.opening, .peerAsked, .opening), Transition(.opening, .channelOpened, .requesting),
        Transition(.opening, .channelOpened, .done), Transition(.opening, .channelRefused, .requesting),
        Transition(.opening, .channelRefused, .waiting), Transition(.opening, .channelRefused, .done),
        Transition(.waiting, .timePassed, .requesting), Transition(.waiting, .timePassed, .done),
        // The link is no longer encrypted.
        Transition(.readingClientFeatures, .operationEnded, .idle),
        Transition(.writingClientFeatures, .operationEnded, .idle),
        Transition(.opening, .channelOpened, .idle), Transition(.opening, .channelRefused, .idle),
        Transition(.waiting, .timePassed, .idle),
        // Bearers that the peer has opened are closed in every phase.
        Transition(.unused, .decrypted, .unused), Transition(.idle, .decrypted, .idle),
        Transition(.starting, .decrypted, .starting),
        Transition(.readingServerFeatures, .decrypted, .readingServerFeatures),
        Transition(.readingClientFeatures, .decrypted, .readingClientFeatures),
        Transition(.writingClientFeatures, .decrypted, .writingClientFeatures),
        Transition(.requesting, .decrypted, .requesting), Transition(.opening, .decrypted, .idle),
        Transition(.waiting, .decrypted, .idle), Transition(.done, .decrypted, .idle),
    ]
}
