import BluetoothHost

extension MachineCatalog {
    /// The state machines of this module, in the order in which `Documentation/StateMachines.md` lists them.
    package static var ofUsers: [Entry] {
        [
            Entry(LinkReadiness.self, "Decides when the users of a shared host get a link, and that it ends."),
            Entry(
                LinkPreparation.self,
                "Reads a peer's services and name, and subscribes to Service Changed, when the link is idle."),
            Entry(
                AttributeCaching.self,
                "Compares the Database Hash of a peer's server with earlier ones before what was found answers for the peer."
            ),
            Entry(Subscription.self, "Moves one subscription towards what its users want."),
        ]
    }
}
