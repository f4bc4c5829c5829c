import BluetoothHost

extension MachineCatalog {
    /// The state machines of this module, in the order in which `Documentation/StateMachines.md` lists them.
    package static var ofUsers: [Entry] {
        [
            Entry(LinkReadiness.self, "Decides when the users of a shared host get a link, and when it ends."),
            Entry(
                LinkPreparation.self,
                "Reads a peer's services and name, and subscribes to Service Changed, when the link is idle."),
            Entry(
                AttributeCaching.self,
                "Compares a peer's Database Hash with the cached one before the cache answers for the peer."
            ),
            Entry(SecurityGate.self, "Holds the calls and channels that wait for a link to be secured."),
            Entry(Subscription.self, "Puts one subscription into the state that its users want."),
        ]
    }
}
